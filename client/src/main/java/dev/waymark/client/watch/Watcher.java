package dev.waymark.client.watch;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.history.Moment;

/**
 * Receives the events of a thread as they happen.
 *
 * <pre>{@code
 * client.watch("trip", new Watcher() {
 *     public boolean happened(Moment moment) {
 *         return true;
 *     }
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
     * An event happened and is in history.
     *
     * @return whether to continue watching
     */
    boolean happened(Moment moment);

    /**
     * Whether the watcher wants to know of each step while an outcome is awaited. If not, it is told only when waits
     * begin and end, and of absent workers, and the server is asked less often.
     */
    default boolean followsSteps() {
        return true;
    }

    /** The client starts to wait for the outcome of a turn of this thread. */
    default void waitBegins(String thread) {}

    /** The wait has ended, with or without an outcome. */
    default void waitEnds() {}

    /**
     * A model is streaming its reply. This text is not in history; the complete reply is reported again as a moment.
     *
     * @return whether to continue watching
     */
    default boolean said(TextDelta words) {
        return true;
    }

    /**
     * A model is streaming the reasoning that it shows, before or between its words. The complete reply has it, too.
     *
     * @return whether to continue watching
     */
    default boolean reasoned(TextDelta words) {
        return true;
    }

    /**
     * Calls of a reply run together with the model call, or one of them has ended. The reply, the calls and their results
     * are reported as moments once all of them have ended.
     *
     * @return whether to continue watching
     */
    default boolean runs(RunningCalls calls) {
        return true;
    }

    /**
     * Work has been due for at least ten seconds, and no worker takes it. Reported once, until {@link #workerIsBack}. Not
     * reported for activities on the in-memory server, where an activity that waits for a worker looks like one that
     * runs. If the watcher waits for an outcome, the wait goes on, and fails if no worker asks for work for over a
     * minute.
     *
     * @return whether to continue watching
     */
    default boolean waitsForWorker(WaymarkException.NoWorker absence) {
        return true;
    }

    /** What {@link #waitsForWorker} said is no longer true. */
    default void workerIsBack() {}

    /**
     * At the last reported moment, the thread reached a new version. The version is in history, and can be shown and
     * resumed from now on.
     *
     * @return whether to continue watching
     */
    default boolean saved(CheckpointSaved checkpoint) {
        return true;
    }

    /**
     * The thread started with an existing conversation, shown by the last reported moment.
     *
     * @return whether to continue watching
     */
    default boolean loaded(CheckpointLoaded checkpoint) {
        return true;
    }
}
