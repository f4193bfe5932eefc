package dev.waymark.client.save;

import dev.waymark.saver.SaverException;

/**
 * Receives events about saved and restored threads, in the Java thread that saves or restores, which waits for the
 * listener.
 */
public interface SaveListener {
    /** Ignores all events. */
    SaveListener NONE = new SaveListener() {};

    /** Logs a warning for each problem. The default. */
    SaveListener WARNING = new LoggedSaves();

    /** The saver has stored this version. */
    default void saved(CheckpointSaved event) {}

    /** A thread unknown to the server was restored from the saver. */
    default void loaded(CheckpointLoaded event) {}

    /**
     * The saver failed. The save is retried, and the thread continues regardless. Problems of one kind are reported
     * once, and again after ten minutes without them.
     */
    default void failed(SaverException problem) {}

    /** The newest checkpoint of this thread will not be saved; {@link #failed} has received the reason. */
    default void notSaved(String thread) {}
}
