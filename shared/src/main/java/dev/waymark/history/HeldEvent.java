package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.rule.Rules;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An event that has arrived but has not been applied yet. */
final class HeldEvent {
    private final long eventId;
    private final Instant arrivedAt;
    private final @Nullable Conversation carried;
    private final @Nullable Supplier<Facts> source;
    private @Nullable Facts known;

    /** The facts that an event represents. Their number may depend on the state to which the event is applied. */
    interface Facts {
        /** The facts, in order. */
        List<Fact> in(@Nullable Conversation before);

        /** The duration of what this fact ended, if the event records it. */
        default Optional<Duration> took(Fact fact) {
            return Optional.empty();
        }
    }

    /** A fact, if there is one, and the state after it. */
    record Applied(Optional<Fact> fact, Conversation state, Optional<Duration> took) {}

    private HeldEvent(
            long eventId, Instant arrivedAt, @Nullable Conversation carried, @Nullable Supplier<Facts> source) {
        this.eventId = eventId;
        this.arrivedAt = arrivedAt;
        this.carried = carried;
        this.source = source;
    }

    /** An event that delivers the initial state of a run. */
    static HeldEvent ofState(long eventId, Instant arrivedAt, Conversation carried) {
        return new HeldEvent(eventId, arrivedAt, carried, null);
    }

    /** An event that represents facts. They are read once, when the event is applied for the first time. */
    static HeldEvent ofFacts(long eventId, Instant arrivedAt, Supplier<Facts> source) {
        return new HeldEvent(eventId, arrivedAt, null, source);
    }

    long eventId() {
        return eventId;
    }

    Instant arrivedAt() {
        return arrivedAt;
    }

    /** Whether the event delivers the initial state of a run instead of facts. */
    boolean carriesState() {
        return carried != null;
    }

    /** The state after each of the event's facts, in order. */
    List<Applied> applyTo(@Nullable Conversation before, Instant at) {
        if (source == null) {
            if (carried == null) {
                throw new IllegalStateException("a held event has neither a fact nor a state");
            }
            return List.of(new Applied(Optional.empty(), carried, Optional.empty()));
        }
        Facts facts = known == null ? source.get() : known;
        known = facts;
        List<Applied> applied = new ArrayList<>();
        Conversation newest = before;
        for (Fact fact : facts.in(before)) {
            newest = after(newest, fact, at);
            applied.add(new Applied(Optional.of(fact), newest, facts.took(fact)));
        }
        return applied;
    }

    private static Conversation after(@Nullable Conversation before, Fact fact, Instant at) {
        if (fact instanceof ThreadFact.RunStarted run) {
            return Rules.start(run, at);
        }
        if (before == null) {
            throw new IllegalStateException("the history does not begin with the start of a run");
        }
        return Rules.apply(before, fact, at);
    }
}
