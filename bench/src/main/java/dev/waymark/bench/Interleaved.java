package dev.waymark.bench;

import java.util.Arrays;

/**
 * Lets two sides take turns of several iterations each, so that other load on the machine affects both equally. A lap
 * is the time between two consecutive marks of one side, without the time that this side waited for its turn.
 */
public final class Interleaved {
    private final int block;
    private final double[][] laps;
    private final int[] marks = new int[2];
    private final long[] since = new long[2];
    private final boolean[] done = new boolean[2];
    private int turn;

    public Interleaved(int block, int iterations) {
        this.block = block;
        this.laps = new double[2][iterations];
    }

    /**
     * To be called at the same point of every iteration. At the start of each turn, waits until the other side has
     * taken its turn or is done.
     */
    public synchronized void mark(int side) throws InterruptedException {
        long now = System.nanoTime();
        int mark = marks[side]++;
        if (mark > 0 && mark <= laps[side].length) {
            laps[side][mark - 1] = (now - since[side]) / 1e6;
        }
        if (mark % block == 0) {
            turn = 1 - side;
            notifyAll();
            while (turn != side && !done[1 - side]) {
                wait();
            }
        }
        since[side] = System.nanoTime();
    }

    public synchronized void done(int side) {
        done[side] = true;
        notifyAll();
    }

    /** Returns the laps from index {@code from}, inclusive, to index {@code to}, exclusive, in milliseconds. */
    public synchronized double[] laps(int side, int from, int to) {
        return Arrays.copyOfRange(laps[side], from, to);
    }
}
