package dev.waymark.rehearsal;

import dev.waymark.conversation.value.Usd;

/**
 * The spending of a rehearsal: the cost of its answers, including kept ones, and the maximum cost of running requests.
 * After a crash, the next process continues from the answers that were kept. Thread-safe.
 */
public final class Spending {
    private final Usd ceiling;

    /** Guarded by this. */
    private Usd spent = Usd.ZERO;

    /** The requests that have not ended. Guarded by this. */
    private int running;

    /** Thrown if a request could exceed the ceiling. */
    public static final class CeilingReached extends Exception {
        private static final long serialVersionUID = 1;

        CeilingReached(String message) {
            super(message);
        }
    }

    public Spending(Usd ceiling) {
        this.ceiling = ceiling;
    }

    /** The spending so far, and the maximum cost of running requests. */
    public synchronized Usd spent() {
        return spent;
    }

    /** Counts an answer that was kept. */
    synchronized void count(Usd cost) {
        spent = spent.plus(cost);
    }

    /**
     * Reserves the maximum cost of a request. Waits for running requests if it would fit without their reservations.
     *
     * @throws CeilingReached if the request could exceed the ceiling
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

    /** Replaces a reservation with the actual cost. */
    synchronized void settle(Usd most, Usd cost) {
        spent = spent.minus(most).plus(cost);
        running--;
        notifyAll();
    }
}
