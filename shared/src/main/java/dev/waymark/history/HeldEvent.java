package dev.waymark.history;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An event that has arrived, but that has not been applied yet. */
final class HeldEvent {
    private final long eventId;
    private final Instant arrivedAt;
    private final @Nullable Conversation carried;
    private final @Nullable FactOf source;
    private @Nullable Fact known;

    interface FactOf {
        Fact get();
    }

    HeldEvent(long eventId, Instant arrivedAt, @Nullable Conversation carried, @Nullable FactOf source) {
        this.eventId = eventId;
        this.arrivedAt = arrivedAt;
        this.carried = carried;
        this.source = source;
    }

    long eventId() {
        return eventId;
    }

    Instant arrivedAt() {
        return arrivedAt;
    }

    /** The fact; empty until it is applied, and for an event that carries a state. */
    Optional<Fact> fact() {
        return Optional.ofNullable(known);
    }

    /** Whether the event brings the state that a run begins with, not a fact. */
    boolean carriesState() {
        return carried != null;
    }

    Conversation applyTo(@Nullable Conversation before, Instant at) {
        if (source == null) {
            if (carried == null) {
                throw new IllegalStateException("neither fact nor state");
            }
            return carried;
        }
        Fact fact = known == null ? source.get() : known;
        known = fact;
        if (fact instanceof ThreadFact.RunStarted run) {
            return Conversation.start(run, at);
        }
        if (before == null) {
            throw new IllegalStateException("the history does not begin with the start of a run");
        }
        return before.apply(fact, at);
    }
}
