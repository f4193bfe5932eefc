package dev.waymark.timeline;

import dev.waymark.annotation.Internal;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.state.Turn;
import dev.waymark.thread.StatusReport;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A state of a thread, and its cause: its place in the run, and the fact that was applied there. If there is no fact,
 * this is the initial state of a run that continues another one.
 *
 * @param took for the end of a call that ran with its model call, the time that the call took
 */
public record Moment(
        String runId,
        EventPlace place,
        Instant at,
        Optional<Fact> fact,
        @Internal Conversation state,
        Optional<Duration> took) {
    @Internal
    public Moment {
        Objects.requireNonNull(state, "state");
    }

    /** The state after an event. */
    @Internal
    public Moment(String runId, long eventId, Instant at, Optional<Fact> fact, Conversation state) {
        this(runId, EventPlace.after(eventId), at, fact, state, Optional.empty());
    }

    /** The id of the event. */
    public long eventId() {
        return place.event();
    }

    /** The conversation so far. The results of calls appear in it when all calls of their reply have ended. */
    public List<Message> messages() {
        return state.transcript().messages();
    }

    /** What the thread was doing, and what it had used. */
    public StatusReport status() {
        return ThreadStatus.of(state);
    }

    /** The turn that was running before this moment: as it is now, or as it ended here if the next one has begun. */
    @Internal
    public Turn outcome(Turn running) {
        return state.turn().number() == running.number()
                ? state.turn()
                : fact.map(cause -> state.ended(running, cause)).orElse(running);
    }

    /** The place as users name it: {@code RUN/e42}, or {@code RUN/e42.1} between two facts of an event. */
    public String address() {
        return runId + "/" + place;
    }
}
