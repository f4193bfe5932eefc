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
            throw interrupted(e);
        }
    }

    static IllegalStateException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IllegalStateException("interrupted while waiting", e);
    }
}
