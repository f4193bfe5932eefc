package dev.waymark.worker.cli;

import dev.waymark.cli.ExitCode;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Turns SIGTERM and Ctrl-C into a wish that the command fulfils: it waits for one, cleans up, and the process ends with
 * exit code 0, where the JVM would have it 143. One that comes during the start interrupts that.
 */
final class TerminationSignal implements AutoCloseable {

    private final CountDownLatch requested = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread command = Thread.currentThread();
    private boolean starting = true;

    private TerminationSignal() {}

    /** Begins to listen, for the command that runs in this thread. */
    static TerminationSignal listen() {
        TerminationSignal termination = new TerminationSignal();
        Runtime.getRuntime().addShutdownHook(new Thread(termination::request, "termination"));
        return termination;
    }

    /** Waits until somebody wishes the end. */
    void await() throws InterruptedException {
        synchronized (this) {
            starting = false;
        }
        requested.await();
    }

    /** The command has cleaned up. After a wish for the end this does not return: the process ends here. */
    @Override
    public void close() {
        over.countDown();
        while (requested.getCount() == 0) {
            LockSupport.park();
        }
    }

    private void request() {
        if (over.getCount() == 0) {
            // The command ended by itself: its own exit code counts.
            return;
        }
        synchronized (this) {
            if (starting) {
                command.interrupt();
            }
        }
        requested.countDown();
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(ExitCode.DONE);
    }
}
