package dev.waymark.client;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Turn;
import dev.waymark.history.Moment;
import java.util.Optional;

/**
 * Tells at which moment of a thread somebody who sent something has the answer. It is shown every moment, in order.
 *
 * <p>A message is answered by the turn that consumes it, which may be a later one than runs when it arrives: that turn
 * ends, or waits for a person. While it is still queued it is answered by the first state in which nothing more happens
 * by itself. Everything else is answered by the turn that it arrives in.
 */
final class OutcomeDetector {
    private final int fact;
    private final Optional<String> message;
    private Optional<Integer> turn = Optional.empty();
    private int entriesSeen;

    private OutcomeDetector(int fact, Optional<String> message) {
        this.fact = fact;
        this.message = message;
    }

    /** For the message of this id, which became this fact of the thread, or a later one. */
    static OutcomeDetector forMessage(String id, int fact) {
        return new OutcomeDetector(fact, Optional.of(id));
    }

    /** For whatever turn there is when this fact is applied. */
    static OutcomeDetector forTurnAt(int fact) {
        return new OutcomeDetector(fact, Optional.empty());
    }

    /** A state in which the wait is over, and the turn that it was for. */
    record Reached(String runId, Conversation state, Turn turn) {}

    /** What was sent is part of this state. */
    boolean isOn(Conversation state) {
        return state.counters().facts() >= fact;
    }

    Optional<Reached> observe(Moment moment) {
        Conversation state = moment.state();
        if (!isOn(state)) {
            return Optional.empty();
        }
        if (turn.isEmpty()) {
            turn = turnIn(state);
        }
        return turn.map(number -> outcome(number, state))
                .orElseGet(() -> state.isSettled() ? Optional.of(state.turn()) : Optional.empty())
                .map(found -> new Reached(moment.runId(), state, found));
    }

    /** The turn that took the message, or empty while it is queued, and when it was dropped. */
    private Optional<Integer> turnIn(Conversation state) {
        int entries = state.transcript().count();
        int fresh = entries < entriesSeen ? entries : entries - entriesSeen;
        entriesSeen = entries;
        boolean taken = message.isEmpty()
                || state.transcript().entries().tail(fresh).stream()
                        .anyMatch(entry -> entry.source().equals(message));
        return taken ? Optional.of(state.turn().number()) : Optional.empty();
    }

    /** A turn may be over at the very moment in which the next one began. */
    private static Optional<Turn> outcome(int number, Conversation state) {
        Turn now = state.turn();
        if (now.number() > number) {
            return Optional.of(state.ended().orElse(now));
        }
        return state.isSettled() ? Optional.of(now) : Optional.empty();
    }
}
