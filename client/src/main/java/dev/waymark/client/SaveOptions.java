package dev.waymark.client;

import dev.waymark.saver.BoundedSaver;
import dev.waymark.saver.CheckpointSaver;
import java.time.Duration;

/**
 * Where checkpoints are kept besides the server's history, and how. They are written behind the threads, which never
 * wait for a saver.
 *
 * @param flushTimeout how long the end of a turn or of a program waits, at most, for the newest to be written
 */
public record SaveOptions(CheckpointSaver saver, SaveInterval cadence, Duration flushTimeout, SaveListener listener) {
    public static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(10);

    /** After every step. Whoever opened the saver closes it, after the last client that saves in it. */
    public static SaveOptions in(CheckpointSaver saver) {
        return new SaveOptions(saver, SaveInterval.STEP, FLUSH_TIMEOUT, SaveListener.NONE);
    }

    /** The saver, which has as long for each operation as the end of a turn waits for it. */
    CheckpointSaver bounded() {
        return new BoundedSaver(saver, flushTimeout);
    }

    public SaveOptions withCadence(SaveInterval other) {
        return new SaveOptions(saver, other, flushTimeout, listener);
    }

    public SaveOptions withFlushTimeout(Duration most) {
        return new SaveOptions(saver, cadence, most, listener);
    }

    public SaveOptions withListener(SaveListener other) {
        return new SaveOptions(saver, cadence, flushTimeout, other);
    }
}
