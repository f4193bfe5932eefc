package dev.waymark.client.saving;

/** Reads new moments and passes them to a checkpoint writer, in one Java thread except for {@link #wake}. */
public interface SaveReader {
    /** Reads new moments, and returns the milliseconds until the next read. */
    long read();

    /** Whether there is nothing more to read. */
    boolean isOver();

    /** Called from any Java thread: ends a pending wait, whose events {@link #lookOnceMore} will see. */
    default void wake() {}

    /** Reads the moments since the last read. Called last. */
    void lookOnceMore();

    /** Passes on everything that was read, including versions that the save interval has held back. */
    void takePassedOver();
}
