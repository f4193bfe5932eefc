package dev.waymark.worker.process;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits that an interrupt cannot end, for cleanup that must finish before a call returns. */
final class UninterruptedWait {

    private UninterruptedWait() {}

    /** Waits for the condition and returns whether it became true in time. Restores the thread's interrupt flag. */
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
