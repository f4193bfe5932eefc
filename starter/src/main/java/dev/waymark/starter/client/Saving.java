package dev.waymark.starter.client;

import dev.waymark.saver.CheckpointSaver;
import java.time.Duration;

/**
 * Where checkpoints are kept besides the server's history, and how. They are written behind the threads, which never
 * wait for a saver.
 *
 * @param flushTimeout how long the end of a turn or of a program waits, at most, for the newest to be written
 */
public record Saving(CheckpointSaver saver, Cadence cadence, Duration flushTimeout, SaveListener listener) {
    public static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(10);

    /** After every step. Whoever opened the saver closes it, after the last client that saves in it. */
    public static Saving in(CheckpointSaver saver) {
        return new Saving(saver, Cadence.STEP, FLUSH_TIMEOUT, SaveListener.NONE);
    }

    public Saving withCadence(Cadence other) {
        return new Saving(saver, other, flushTimeout, listener);
    }

    public Saving withFlushTimeout(Duration most) {
        return new Saving(saver, cadence, most, listener);
    }

    public Saving withListener(SaveListener other) {
        return new Saving(saver, cadence, flushTimeout, other);
    }
}
