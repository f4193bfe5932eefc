package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A state of a thread, and its cause: its place in the run, and the fact that was applied there. If there is no fact,
 * this is the initial state of a run that continues another one.
 *
 * @param took for the end of a call that ran with its model call, the time that the call took
 */
public record Moment(
        String runId, EventPlace place, Instant at, Optional<Fact> fact, Conversation state, Optional<Duration> took) {
    /** The state after an event. */
    public Moment(String runId, long eventId, Instant at, Optional<Fact> fact, Conversation state) {
        this(runId, EventPlace.after(eventId), at, fact, state, Optional.empty());
    }

    /** The id of the event. */
    public long eventId() {
        return place.event();
    }

    /** The place as users name it: {@code RUN/e42}, or {@code RUN/e42.1} between two facts of an event. */
    public String address() {
        return runId + "/" + place;
    }
}
