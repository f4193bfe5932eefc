package dev.waymark.testkit;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.state.Counters;
import dev.waymark.history.ProjectedHistory;
import dev.waymark.timeline.Moment;
import io.temporal.common.WorkflowExecutionHistory;

/**
 * Checks a history against Waymark's guarantees: it can be projected, every model call got the conversation that is in
 * history, every call that a model saw has exactly one result, and counters never decrease. For tests of your own
 * agents:
 *
 * <pre>{@code
 * HistoryCheck.check(client.fetchHistory("trip"));
 * }</pre>
 */
public final class HistoryCheck {
    private HistoryCheck() {}

    /** Checks a history, and throws an {@link AssertionError} that says where it violates a guarantee. */
    public static void check(WorkflowExecutionHistory history) {
        ProjectedHistory recorded = ProjectedHistory.project(history);
        if (!recorded.mismatches().isEmpty()) {
            throw new AssertionError("model calls that history contradicts: " + recorded.mismatches());
        }
        if (!recorded.contradictions().isEmpty()) {
            throw new AssertionError("history contradicts what was recorded: " + recorded.contradictions());
        }
        Counters before = Counters.ZERO;
        for (Moment moment : recorded.moments()) {
            check(moment);
            Counters now = moment.state().counters();
            if (now.facts() < before.facts() || now.steps() < before.steps() || now.versions() < before.versions()) {
                throw broken(moment, "counters went back, from " + before + " to " + now);
            }
            before = now;
        }
    }

    private static void check(Moment moment) {
        Conversation state = moment.state();
        if (moment.fact()
                .filter(fact -> fact instanceof ModelFact.ModelCalled || fact instanceof ModelFact.SummaryRequested)
                .isPresent()) {
            Pairing.violation(state.transcript().messages()).ifPresent(violation -> {
                throw broken(moment, violation);
            });
        }
    }

    private static AssertionError broken(Moment moment, String what) {
        return new AssertionError("event " + moment.eventId() + " of run " + moment.runId() + ": " + what);
    }
}
