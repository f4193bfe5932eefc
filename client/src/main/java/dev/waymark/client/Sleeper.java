package dev.waymark.client;

/** Waiting without doing anything. */
final class Sleeper {
    private Sleeper() {}

    /** An interrupted caller wants to stop waiting altogether. */
    static void millis(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting", e);
        }
    }
}
