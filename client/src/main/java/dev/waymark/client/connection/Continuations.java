package dev.waymark.client.connection;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.connect.Connection;
import dev.waymark.contract.ContinuationMarker;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.value.Problem;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.Timeline;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.client.WorkflowOptions;
import java.util.Optional;

/**
 * Records on the server which thread continues a closed one, so that only one does: two threads with the same pending
 * call would execute its side effect twice. The markers are workflows that no worker runs, see {@link
 * ContinuationMarker}. Thread-safe.
 */
public final class Continuations {
    private final Connection connection;
    private final HistoryReader histories;
    private final Requests requests;

    public Continuations(Connection connection, HistoryReader histories, Requests requests) {
        this.connection = connection;
        this.histories = histories;
        this.requests = requests;
    }

    /**
     * A conversation that may be continued once.
     *
     * @param marker the workflow id of its marker
     * @param name the name for messages
     */
    public record Source(String marker, String name) {}

    /**
     * A continuation that this request holds.
     *
     * @param thread the id of the thread to start
     * @param marker the workflow id of its marker
     */
    public record Taken(String thread, String marker) {}

    /** The thread that continues it, or is about to be started for that; empty if there is none. */
    public Optional<String> of(Source source) {
        return histories.continuedAs(source.marker());
    }

    /**
     * Acquires the only continuation for this request. The returned thread differs from {@code thread} if the same
     * request was made before, or if another request chose an id but never started its thread, and this request does
     * not insist on {@code thread}.
     *
     * @throws WaymarkException.Refused if the source is continued by another thread
     */
    public Taken take(Source source, String thread, boolean insists, String requestId) {
        String marker = source.marker();
        while (!start(marker, new ContinuationMarker(thread, requestId))) {
            ContinuationMarker taken = read(marker);
            Optional<String> idle = idleRun(taken.thread());
            if (idle.isEmpty()) {
                boolean isAcceptable = !insists || taken.thread().equals(thread);
                boolean isSame = taken.request().equals(requestId);
                boolean exists = requests.find(taken.thread()).isPresent();
                boolean isFree = isSame ? exists || isOpen(marker) : !isBegun(marker, taken);
                if (isAcceptable && isFree) {
                    return new Taken(taken.thread(), marker);
                }
                throw continued(source, taken.thread(), exists);
            }
            marker = ContinuationMarker.idAfter(marker, idle.get());
        }
        return new Taken(thread, marker);
    }

    /** Records that the thread has started. */
    public void begun(Taken taken) {
        try {
            connection
                    .client()
                    .newUntypedWorkflowStub(taken.marker())
                    .terminate("The thread that continues has started.");
        } catch (WorkflowNotFoundException e) {
            // A concurrent repeat of the request recorded it.
        }
    }

    private ContinuationMarker read(String marker) {
        return histories.continuation(marker).orElseThrow(() -> new IllegalStateException("no such marker: " + marker));
    }

    private Optional<String> idleRun(String thread) {
        return histories.read(thread).filter(Timeline::lacksAgent).map(Timeline::runId);
    }

    private boolean start(String id, ContinuationMarker marker) {
        WorkflowOptions options = WorkflowOptions.newBuilder()
                .setTaskQueue(WireNames.CONTINUATION_QUEUE)
                .setWorkflowId(id)
                .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
                .build();
        try {
            connection
                    .client()
                    .newUntypedWorkflowStub(WireNames.CONTINUATION_TYPE, options)
                    .start(marker);
            return true;
        } catch (WorkflowExecutionAlreadyStarted e) {
            return false;
        }
    }

    /** The holder of the marker may have been killed before it started the thread. */
    private boolean isBegun(String marker, ContinuationMarker taken) {
        return !isOpen(marker) || requests.find(taken.thread()).isPresent();
    }

    private boolean isOpen(String marker) {
        return histories
                .describe(marker)
                .filter(described -> described.getWorkflowExecutionInfo().getStatus()
                        == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING)
                .isPresent();
    }

    public static WaymarkException continued(Source source, String thread, boolean exists) {
        String name = ValueText.quoted(thread);
        return new WaymarkException.Refused(
                Problem.BAD_INPUT,
                "already continued in another thread, " + thread + ": " + source.name(),
                exists
                        ? "See it with: waymark show " + name + "; continue from it with: waymark resume " + name
                        : "That thread was deleted or never started. waymark resume --thread " + name
                                + " starts it if it was never started");
    }
}
