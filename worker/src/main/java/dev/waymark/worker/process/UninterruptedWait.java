package dev.waymark.worker.process;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waiting that an interrupt does not end, for what has to be gone before a call may return. */
final class UninterruptedWait {

    private UninterruptedWait() {}

    /** Whether it has come about in time. The thread is interrupted afterwards if it was before or meanwhile. */
    static boolean until(Duration most, BooleanSupplier condition) {
        boolean interrupted = false;
        long end = System.nanoTime() + most.toNanos();
        boolean met = condition.getAsBoolean();
        while (!met && System.nanoTime() < end) {
            try {
                TimeUnit.MILLISECONDS.sleep(2);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            met = condition.getAsBoolean();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return met;
    }
}
