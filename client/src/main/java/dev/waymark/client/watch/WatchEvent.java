package dev.waymark.client.watch;

import dev.waymark.client.ThreadWatch;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.history.Moment;

/** An event of a {@link ThreadWatch}. */
public sealed interface WatchEvent {
    /** A new moment in the history of the thread. */
    record Happened(String id, Moment moment) implements WatchEvent {}

    /** The previous moment created a new version of the thread. */
    record Saved(String id, CheckpointSaved checkpoint) implements WatchEvent {}

    /** The thread started from an existing conversation. */
    record Loaded(String id, CheckpointLoaded checkpoint) implements WatchEvent {}

    /** Partial text of a reply that is not complete yet. */
    record Said(String id, TextDelta words) implements WatchEvent {}

    /** Partial reasoning of a reply that is not complete yet. */
    record Reasoned(String id, TextDelta words) implements WatchEvent {}

    /**
     * Calls of a reply that run together with the model call. Reported again when one of them has ended, and to each new
     * watch.
     */
    record CallsRunning(RunningCalls calls) implements WatchEvent {}

    /**
     * The status of the thread has changed, and no worker has recorded that yet, for example because the only worker is
     * gone. Lists and snapshots show this status too. The moments follow when a worker takes the thread's work.
     */
    record StatusChanged(ThreadStatus status) implements WatchEvent {}

    /** Work has been due for a while, and no worker takes it. */
    record Unattended(WaymarkException.NoWorker absence) implements WatchEvent {}

    /** What {@link Unattended} said is no longer true. */
    record Attended() implements WatchEvent {}

    /**
     * Earlier events are no longer all in the history: the thread was reset, or the history of the last event was
     * deleted. The remaining history follows from its beginning.
     */
    record Restarted() implements WatchEvent {}
}
