package dev.waymark.client;

import dev.waymark.history.Moment;

/** What {@link ThreadWatch} tells. */
public sealed interface WatchEvent {
    /** Something happened, and is in history. */
    record Happened(String id, Moment moment) implements WatchEvent {}

    /** With the moment that was told last, the thread came to another version. */
    record Saved(String id, CheckpointSaved checkpoint) implements WatchEvent {}

    /** The thread began with a conversation from elsewhere. */
    record Loaded(String id, CheckpointLoaded checkpoint) implements WatchEvent {}

    /** More words of a reply that is still coming. */
    record Said(String id, TextDelta words) implements WatchEvent {}

    /** Something has been due for ten seconds, and no worker has taken it. */
    record Unattended(WaymarkException.NoWorker absence) implements WatchEvent {}

    /**
     * What was told before is not all in the thread's history any more: the thread was reset, or the history that the last
     * event was from is gone. Everything that is still held is told from its beginning.
     */
    record Restarted() implements WatchEvent {}
}
