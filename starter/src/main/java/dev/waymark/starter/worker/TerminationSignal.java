package dev.waymark.starter.worker;

import dev.waymark.cli.ExitCode;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Turns SIGTERM and Ctrl-C into a request that the command waits for before it cleans up. The process then exits with
 * code 0 instead of the JVM's 143 or 130. A signal during the start interrupts the start.
 */
final class TerminationSignal implements AutoCloseable {

    private final CountDownLatch requested = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread command = Thread.currentThread();
    private boolean starting = true;

    private TerminationSignal() {}

    /** Starts listening for signals on behalf of the command that runs in this thread. */
    static TerminationSignal listen() {
        TerminationSignal termination = new TerminationSignal();
        Runtime.getRuntime().addShutdownHook(new Thread(termination::request, "termination"));
        return termination;
    }

    /** Called when the command has started. Waits for a signal. */
    void await() throws InterruptedException {
        synchronized (this) {
            starting = false;
        }
        requested.await();
    }

    /** Called when the command has cleaned up. After a signal, this method does not return: the process exits. */
    @Override
    public void close() {
        over.countDown();
        while (requested.getCount() == 0) {
            LockSupport.park();
        }
    }

    private void request() {
        if (over.getCount() == 0) {
            // The command ended without a signal, so its own exit code applies.
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
