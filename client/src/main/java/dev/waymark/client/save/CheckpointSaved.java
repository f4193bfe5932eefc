package dev.waymark.client.save;

import dev.waymark.client.watch.Watcher;
import dev.waymark.history.Moment;
import java.time.Instant;

/**
 * A thread reached a new version: a step completed, a turn ended, or a person was asked. A step that asks a person is
 * reported twice: when it asks, and when it has its answers.
 *
 * <p>In a {@link Watcher}, this event means that the version is in history: it can be shown and resumed from now on,
 * even if every process dies. In a {@link SaveListener}, it means that a saver has the version too.
 *
 * @param step the number of model calls over the thread's whole life
 */
public record CheckpointSaved(String runId, long eventId, Instant at, String threadId, int step) {
    /** Returns the event for a thread that reached a version at this moment. */
    public static CheckpointSaved of(String thread, Moment moment) {
        return new CheckpointSaved(
                moment.runId(),
                moment.eventId(),
                moment.at(),
                thread,
                Math.max(1, moment.state().counters().steps()));
    }
}
