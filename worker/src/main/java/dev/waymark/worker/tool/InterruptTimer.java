package dev.waymark.worker.tool;

import dev.waymark.connect.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Interrupts the thread that created it when the time is up, but never after this timer is closed. */
final class InterruptTimer implements AutoCloseable {
    private static final ScheduledExecutorService CLOCK =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("tool-deadlines"));

    private final Thread worker = Thread.currentThread();
    private final ScheduledFuture<?> alarm;
    private boolean passed;
    private boolean closed;

    InterruptTimer(Duration time) {
        this.alarm = CLOCK.schedule(this::pass, time.toMillis(), TimeUnit.MILLISECONDS);
    }

    private synchronized void pass() {
        if (!closed) {
            passed = true;
            worker.interrupt();
        }
    }

    synchronized boolean hasPassed() {
        return passed;
    }

    @Override
    public synchronized void close() {
        closed = true;
        alarm.cancel(false);
        if (passed) {
            Thread.interrupted();
        }
    }
}
