package dev.waymark.client.save;

import dev.waymark.saver.BoundedSaver;
import dev.waymark.saver.CheckpointSaver;
import java.time.Duration;

/**
 * Where and how checkpoints are saved in addition to the server's history. Checkpoints are written asynchronously;
 * threads never wait for a saver.
 *
 * @param flushTimeout how long the end of a turn or of a program waits for the newest checkpoint to be written
 */
public record SaveOptions(CheckpointSaver saver, SaveInterval cadence, Duration flushTimeout) {
    /** The default time that a saver gets to store the newest checkpoint. */
    public static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(10);

    /** Saves after every step. The caller closes the saver, after the last client that uses it. */
    public static SaveOptions in(CheckpointSaver saver) {
        return new SaveOptions(saver, SaveInterval.STEP, FLUSH_TIMEOUT);
    }

    /** The saver, with the flush timeout as the time limit of each operation. */
    public CheckpointSaver bounded() {
        return new BoundedSaver(saver, flushTimeout);
    }

    /** Sets how often a thread is saved. */
    public SaveOptions withCadence(SaveInterval other) {
        return new SaveOptions(saver, other, flushTimeout);
    }

    /** Sets the time that the saver gets to store the newest checkpoint. */
    public SaveOptions withFlushTimeout(Duration most) {
        return new SaveOptions(saver, cadence, most);
    }
}
