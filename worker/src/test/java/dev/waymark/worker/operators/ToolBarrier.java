package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A point at which a tool waits until the test lets it continue. */
final class ToolBarrier {
    /** Far more than needed, because dozens of threads wait at once, on machines that also run other tests. */
    private static final int MOST_SECONDS = 240;

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);
    private volatile boolean firm;

    /**
     * Makes the waiting tool ignore interrupts and continue when the barrier opens, like a process that was only
     * suspended.
     */
    ToolBarrier firm() {
        firm = true;
        return this;
    }

    void pass() throws InterruptedException {
        reached.countDown();
        while (open.getCount() > 0) {
            try {
                open.await();
            } catch (InterruptedException e) {
                if (!firm) {
                    throw e;
                }
            }
        }
    }

    void awaitArrival() throws InterruptedException {
        assertThat(reached.await(MOST_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    void open() {
        open.countDown();
    }
}
