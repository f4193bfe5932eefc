package dev.waymark.client;

import dev.waymark.history.Moment;

/**
 * Whoever looks on while a thread goes on.
 *
 * <pre>{@code
 * client.watch("trip", new Watcher() {
 *     public boolean happened(Moment moment) {
 *         return true;
 *     }
 *
 *     public boolean saved(CheckpointSaved checkpoint) {
 *         System.out.println("Checkpoint at step " + checkpoint.step());
 *         return true;
 *     }
 * });
 * }</pre>
 */
@FunctionalInterface
public interface Watcher {
    /**
     * Something happened, and is in history.
     *
     * @return whether to go on watching
     */
    boolean happened(Moment moment);

    /** The outcome of a turn of this thread is waited for from now on. */
    default void waitBegins(String thread) {}

    /** The outcome is there, or the wait was given up. */
    default void waitEnds() {}

    /**
     * A model is in the middle of a reply. What it said is nowhere but here until the reply is whole, and then it is told
     * again, as a moment.
     *
     * @return whether to go on watching
     */
    default boolean said(TextDelta words) {
        return true;
    }

    /**
     * Something has been due for ten seconds, and no worker has taken it. This is told once, until something happens
     * again. On the in-memory server, an activity that waits for a worker can't be told from one that runs.
     *
     * @return whether to go on watching
     */
    default boolean waitsForWorker(WaymarkException.NoWorker absence) {
        return true;
    }

    /**
     * With the moment that was told last, the thread came to another version, which can be shown and resumed from now on.
     * Nothing had to be written for that but the history.
     *
     * @return whether to go on watching
     */
    default boolean saved(CheckpointSaved checkpoint) {
        return true;
    }

    /**
     * The thread began with a conversation from elsewhere, as the moment that was told last shows it.
     *
     * @return whether to go on watching
     */
    default boolean loaded(CheckpointLoaded checkpoint) {
        return true;
    }
}
