package dev.waymark.client;

import dev.waymark.checkpoint.ThreadCheckpoint;
import dev.waymark.history.Moment;
import java.time.Instant;

/**
 * A thread began with a conversation from elsewhere: it was resumed, restored or forked.
 *
 * @param messagesCount the messages that it began with, as the {@code thread} format counts them; the answer that it was
 *     resumed with is among them
 */
public record CheckpointLoaded(String runId, long eventId, Instant at, String threadId, int step, int messagesCount) {
    static CheckpointLoaded of(String thread, Moment moment) {
        return new CheckpointLoaded(
                moment.runId(),
                moment.eventId(),
                moment.at(),
                thread,
                Math.max(1, moment.state().counters().steps()),
                ThreadCheckpoint.messageCount(moment.state()));
    }
}
