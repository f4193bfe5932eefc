package dev.waymark.client;

import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A request that a thread has accepted, and how to wait for its outcome. Callers that wait and callers that do not send
 * through the same method, and only the first call {@link #await}. The wait blocks the Java thread that calls it.
 */
final class PendingTurn {
    private final ClientContext context;
    private final String thread;
    private final String runId;
    private final boolean started;
    private final Supplier<AgentResult> outcome;

    private PendingTurn(
            ClientContext context, String thread, String runId, boolean started, Supplier<AgentResult> outcome) {
        this.context = context;
        this.thread = thread;
        this.runId = runId;
        this.started = started;
        this.outcome = outcome;
    }

    /**
     * @param runId the run that accepted the request
     * @param outcome waits for the outcome in the calling Java thread
     */
    static PendingTurn of(ClientContext context, String thread, String runId, Supplier<AgentResult> outcome) {
        return new PendingTurn(context, thread, runId, true, outcome);
    }

    /** Returns the turn of a request that had nothing to do, because the turn that it names is complete. */
    static PendingTurn complete(ClientContext context, String thread, String runId, Supplier<AgentResult> outcome) {
        return new PendingTurn(context, thread, runId, false, outcome);
    }

    PendingTurn checking(UnaryOperator<AgentResult> check) {
        return new PendingTurn(context, thread, runId, started, () -> check.apply(outcome.get()));
    }

    String thread() {
        return thread;
    }

    String runId() {
        return runId;
    }

    AgentClient.Started started() {
        return new AgentClient.Started(thread, runId);
    }

    /** Returns false if the request started nothing, see {@link #complete}. */
    boolean isStarted() {
        return started;
    }

    /** Waits for the outcome, until the deadline that began with the request. */
    AgentResult await() {
        return context.translated(outcome);
    }
}
