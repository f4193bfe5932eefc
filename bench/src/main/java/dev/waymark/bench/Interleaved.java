package dev.waymark.bench;

import java.util.Arrays;
import java.util.List;

/**
 * Lets two sides take turns of several iterations each, so that other load on the machine affects both equally. A lap
 * is the time between two consecutive marks of one side, without the time that this side waited for its turn.
 */
public final class Interleaved {
    private final int block;
    private final List<Side> sides;
    private int turn;

    public Interleaved(int block, int iterations) {
        this.block = block;
        this.sides = List.of(new Side(iterations), new Side(iterations));
    }

    private static final class Side {
        private final double[] laps;
        private int marks;
        private long since;
        private boolean done;

        Side(int iterations) {
            this.laps = new double[iterations];
        }
    }

    /**
     * To be called at the same point of every iteration. At the start of each turn, waits until the other side has
     * taken its turn or is done.
     */
    public synchronized void mark(int side) throws InterruptedException {
        long now = System.nanoTime();
        Side own = sides.get(side);
        int mark = own.marks++;
        if (mark > 0 && mark <= own.laps.length) {
            own.laps[mark - 1] = (now - own.since) / 1e6;
        }
        if (mark % block == 0) {
            turn = 1 - side;
            notifyAll();
            while (turn != side && !sides.get(1 - side).done) {
                wait();
            }
        }
        own.since = System.nanoTime();
    }

    public synchronized void done(int side) {
        sides.get(side).done = true;
        notifyAll();
    }

    /** Returns the laps from index {@code from}, inclusive, to index {@code to}, exclusive, in milliseconds. */
    public synchronized double[] laps(int side, int from, int to) {
        return Arrays.copyOfRange(sides.get(side).laps, from, to);
    }
}
