package dev.waymark.client;

import dev.waymark.history.Moment;
import java.time.Instant;

/**
 * A thread came to another version: a step was completed, a turn ended, or a person was asked. A step that asks a person
 * is told of twice, as it was when it asked and as it was when it had its answers.
 *
 * <p>From {@link Watcher} it means that this version can be shown and resumed from now on, whatever dies: it is in
 * history, and nothing else has to be written for that. From {@link SaveListener} it means that a saver has it too.
 *
 * @param step how often the thread had called its model, over its whole life
 */
public record CheckpointSaved(String runId, long eventId, Instant at, String threadId, int step) {
    static CheckpointSaved of(String thread, Moment moment) {
        return new CheckpointSaved(
                moment.runId(),
                moment.eventId(),
                moment.at(),
                thread,
                Math.max(1, moment.state().counters().steps()));
    }
}
