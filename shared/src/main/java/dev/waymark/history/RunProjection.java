package dev.waymark.history;

import com.fasterxml.jackson.annotation.JsonCreator;
import dev.waymark.contract.StateDigest;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.conversation.Conversation;
import io.temporal.common.WorkflowExecutionHistory;
import java.util.Optional;

/**
 * The projection of a run, as digests of its last state. If another build's projection of the same events differs, that
 * build understands the thread differently.
 *
 * @param transcript the running digest of the messages
 * @param state the digest of the whole state, with the transcript represented by its digest
 */
public record RunProjection(int rules, String status, int facts, String transcript, String state) {
    @JsonCreator
    public RunProjection {}

    static RunProjection of(Conversation state) {
        return new RunProjection(
                state.rules(),
                state.turn().status().wireName(),
                state.counters().facts(),
                state.transcript().digest(),
                StateDigest.of(state));
    }

    /** The projection that a workflow reported. Its report does not include the status. */
    static RunProjection of(StateReport report, String status) {
        return new RunProjection(report.rules(), status, report.facts(), report.digest(), report.state());
    }

    /** The projection of these events; empty if no workflow task has completed yet. */
    static Optional<RunProjection> of(String runId, WorkflowExecutionHistory history) {
        Projector projector = new Projector(runId, moment -> {});
        history.getEvents().forEach(projector::accept);
        return projector.state().map(RunProjection::of);
    }
}
