package dev.waymark.client.connection;

/** Sleeps for a time. */
public final class Sleeper {
    private Sleeper() {}

    /** An interrupted caller does not want to wait any longer. */
    public static void millis(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting", e);
        }
    }
}
