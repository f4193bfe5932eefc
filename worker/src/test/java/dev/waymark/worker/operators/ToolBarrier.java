package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A place where a tool waits until the test has done what it wanted to do. */
final class ToolBarrier {
    /** Much more than it takes: dozens of threads are held at once, on machines that run other tests too. */
    private static final int MOST_SECONDS = 240;

    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);
    private volatile boolean firm;

    /** What waits here goes on when this opens, whoever wants to stop it: as a process that was only stopped does. */
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
