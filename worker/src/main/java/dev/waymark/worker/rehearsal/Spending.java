package dev.waymark.worker.rehearsal;

import dev.waymark.conversation.value.Usd;

/**
 * What a rehearsal spends: what its answers have cost, kept ones included, and the most that running requests can cost. A
 * rehearsal that was killed counts on from the answers that it has kept. Thread-safe.
 */
public final class Spending {
    private final Usd ceiling;

    /** Guarded by this. */
    private Usd spent = Usd.ZERO;

    /** The requests that have not ended. Guarded by this. */
    private int running;

    /** A request would pass the ceiling. */
    public static final class CeilingReached extends Exception {
        private static final long serialVersionUID = 1;

        CeilingReached(String message) {
            super(message);
        }
    }

    public Spending(Usd ceiling) {
        this.ceiling = ceiling;
    }

    /** What has been spent, and what running requests can cost. */
    public synchronized Usd spent() {
        return spent;
    }

    /** Counts an answer that was kept. */
    synchronized void count(Usd cost) {
        spent = spent.plus(cost);
    }

    /**
     * Reserves the most that a request can cost. Waits for running requests if it would fit without their reservations.
     *
     * @throws CeilingReached if the request could pass the ceiling
     */
    synchronized void reserve(Usd most) throws CeilingReached, InterruptedException {
        while (spent.plus(most).compareTo(ceiling) > 0) {
            if (running == 0) {
                throw new CeilingReached("the next request may cost " + most + " USD, and " + spent + " of " + ceiling
                        + " USD are spent");
            }
            wait();
        }
        spent = spent.plus(most);
        running++;
    }

    /** Replaces a reservation by what the request has cost. */
    synchronized void settle(Usd most, Usd cost) {
        spent = spent.minus(most).plus(cost);
        running--;
        notifyAll();
    }
}
