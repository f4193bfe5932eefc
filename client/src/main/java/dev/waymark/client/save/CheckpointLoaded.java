package dev.waymark.client.save;

import dev.waymark.checkpoint.ThreadCheckpoint;
import dev.waymark.history.Moment;
import java.time.Instant;

/**
 * A thread started with an existing conversation: it was resumed, restored or forked.
 *
 * @param messagesCount the number of messages that the thread started with, counted as in the {@code thread} format,
 * including the answer with which it was resumed
 */
public record CheckpointLoaded(String runId, long eventId, Instant at, String threadId, int step, int messagesCount) {
    /** Returns the event for a thread that started at this moment. */
    public static CheckpointLoaded of(String thread, Moment moment) {
        return new CheckpointLoaded(
                moment.runId(),
                moment.eventId(),
                moment.at(),
                thread,
                Math.max(1, moment.state().counters().steps()),
                ThreadCheckpoint.messageCount(moment.state()));
    }
}
