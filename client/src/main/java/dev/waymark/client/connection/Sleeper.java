package dev.waymark.client.connection;

/** Pauses the calling Java thread. */
public final class Sleeper {
    private Sleeper() {}

    /**
     * Sleeps this long. Throws if the Java thread is interrupted, which means that its caller no longer wants to wait.
     */
    public static void millis(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting", e);
        }
    }
}
