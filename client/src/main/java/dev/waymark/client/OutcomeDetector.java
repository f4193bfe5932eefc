package dev.waymark.client;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.Turn;
import dev.waymark.timeline.Moment;
import java.util.Optional;

/**
 * Finds the moment at which a sent message has its outcome. Must be given every moment, in order.
 *
 * <p>A message has the outcome of the turn that consumes it, once that turn ends or waits for a person. The turn may
 * start later than the turn that is running when the message arrives. If the message is still queued when no turn is
 * running, that state is its outcome. Any other request has the outcome of the turn in which it arrives.
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

    /** Detects the outcome of the message with this id, which the thread recorded as this fact or a later one. */
    static OutcomeDetector forMessage(String id, int fact) {
        return new OutcomeDetector(fact, Optional.of(id));
    }

    /** Detects the outcome of the turn in which this fact is applied. */
    static OutcomeDetector forTurnAt(int fact) {
        return new OutcomeDetector(fact, Optional.empty());
    }

    /** Detects no outcome, so that the wait ends when the thread closes. */
    static OutcomeDetector forTheEnd() {
        return forTurnAt(Integer.MAX_VALUE);
    }

    /** The state that ended the wait, and the turn that was awaited. */
    record Reached(String runId, Conversation state, Turn turn) {
        AgentResult result(String thread) {
            return AgentResult.of(thread, runId, state, turn);
        }
    }

    /** Returns whether this state includes the fact of the sent message or request. */
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

    /** Returns the turn that consumed the message; empty while the message is queued, or if it was dropped. */
    private Optional<Integer> turnIn(Conversation state) {
        int entries = state.transcript().count();
        int fresh = entries < entriesSeen ? entries : entries - entriesSeen;
        entriesSeen = entries;
        boolean taken = message.isEmpty()
                || state.transcript().entries().tail(fresh).stream()
                        .anyMatch(entry -> entry.source().equals(message));
        return taken ? Optional.of(state.turn().number()) : Optional.empty();
    }

    /**
     * Returns the turn with this number if it has its outcome. Also looks at the turn that ended last, because a turn
     * may end at the same moment as the next one starts.
     */
    private static Optional<Turn> outcome(int number, Conversation state) {
        Turn now = state.turn();
        if (now.number() > number) {
            return Optional.of(state.ended().orElse(now));
        }
        return state.isSettled() ? Optional.of(now) : Optional.empty();
    }
}
