package dev.waymark.client.connection;

import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.connect.Connection;
import dev.waymark.contract.SuccessorMarker;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.HistoryReader;
import dev.waymark.timeline.Timeline;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.client.WorkflowOptions;
import java.util.Optional;

/**
 * Records on the server which thread continues a closed one, so that only one does: two threads with the same pending
 * call would execute its side effect twice. The markers are workflows that no worker runs, see {@link
 * SuccessorMarker}. Thread-safe.
 */
public final class SuccessorRegistry {
    private final Connection connection;
    private final HistoryReader histories;
    private final Requests requests;

    public SuccessorRegistry(Connection connection, HistoryReader histories, Requests requests) {
        this.connection = connection;
        this.histories = histories;
        this.requests = requests;
    }

    /**
     * A conversation that may be continued once.
     *
     * @param marker the workflow id of its marker
     * @param name the thread that the conversation belongs to
     * @param isThread whether this server has that thread; otherwise the conversation comes from a file or a saver
     */
    public record Source(String marker, String name, boolean isThread) {
        /** Returns the source for a closed thread of this server. */
        public static Source thread(String name, String firstRunId) {
            return new Source(SuccessorMarker.idOfRun(firstRunId), name, true);
        }

        /** Returns the source for a checkpoint of a thread that this server does not know. */
        public static Source checkpoint(String thread) {
            return new Source(SuccessorMarker.idOfFile(thread), thread, false);
        }

        /** Returns the source for a checkpoint of a thread whose first run is known, possibly on another server. */
        public static Source checkpoint(String thread, String firstRunId) {
            return new Source(SuccessorMarker.idOfRun(firstRunId), thread, false);
        }
    }

    /**
     * A successor that this request may start.
     *
     * @param thread the id of the thread to start
     * @param marker the workflow id of its marker
     */
    public record Reservation(String thread, String marker) {}

    /** The state of the thread that a marker names. */
    private enum SuccessorState {
        STARTED,
        /** The request that chose the thread's id has not started the thread yet, or was killed before that. */
        ABOUT_TO_START,
        /** The thread was deleted after it had started. */
        GONE
    }

    /**
     * Checks that no thread continues the source, and that none is about to be started to continue it.
     *
     * @throws WaymarkException.Refused if a thread continues the source or is about to
     */
    public void checkThatNoneContinues(Source source) {
        histories.lastContinuation(source.marker()).ifPresent(taken -> {
            throw continued(source, taken.thread(), successor(taken.marker(), taken.thread()));
        });
    }

    /**
     * Acquires the source's only continuation for this request. Unless this request insists on {@code thread}, the
     * returned thread may be another one: the thread of an earlier attempt of this request, or the thread that another
     * request has chosen and not started.
     *
     * @throws WaymarkException.Refused if another thread continues the source, or if this request insists on {@code
     * thread} and another id was chosen
     */
    public Reservation take(Source source, String thread, boolean insists, String requestId) {
        String marker = source.marker();
        while (!start(marker, new SuccessorMarker(thread, requestId))) {
            SuccessorMarker taken = read(marker);
            Optional<String> idle = idleRun(taken.thread());
            if (idle.isEmpty()) {
                boolean isAcceptable = !insists || taken.thread().equals(thread);
                boolean isSame = taken.request().equals(requestId);
                SuccessorState successor = successor(marker, taken.thread());
                // The holder of the marker may have been killed before it started the thread.
                boolean isFree =
                        successor == SuccessorState.ABOUT_TO_START || (isSame && successor == SuccessorState.STARTED);
                if (isAcceptable && isFree) {
                    return new Reservation(taken.thread(), marker);
                }
                throw continued(source, taken.thread(), successor);
            }
            marker = SuccessorMarker.idAfter(marker, idle.get());
        }
        return new Reservation(thread, marker);
    }

    /** Records that the thread has started. */
    public void begun(Reservation taken) {
        try {
            connection
                    .client()
                    .newUntypedWorkflowStub(taken.marker())
                    .terminate("The thread that continues has started.");
        } catch (WorkflowNotFoundException e) {
            // A concurrent repetition of the request has recorded it.
        }
    }

    private SuccessorMarker read(String marker) {
        return histories
                .continuation(marker)
                .orElseThrow(() -> new IllegalStateException("the continuation marker has no history: " + marker));
    }

    private Optional<String> idleRun(String thread) {
        return histories.read(thread).filter(Timeline::lacksAgent).map(Timeline::runId);
    }

    private boolean start(String id, SuccessorMarker marker) {
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

    /**
     * Returns the state of the thread. Reads the marker first, because it is closed only after the thread has started.
     */
    private SuccessorState successor(String marker, String thread) {
        boolean isOpen = isOpen(marker);
        if (requests.find(thread).isPresent()) {
            return SuccessorState.STARTED;
        }
        return isOpen ? SuccessorState.ABOUT_TO_START : SuccessorState.GONE;
    }

    private boolean isOpen(String marker) {
        return histories
                .describe(marker)
                .filter(described -> described.getWorkflowExecutionInfo().getStatus()
                        == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING)
                .isPresent();
    }

    private static WaymarkException continued(Source source, String thread, SuccessorState successor) {
        Remedy remedy = Remedy.of(
                switch (successor) {
                    case STARTED -> Remedy.Action.SHOW_SUCCESSOR;
                    case ABOUT_TO_START -> Remedy.Action.AWAIT_SUCCESSOR;
                    case GONE -> Remedy.Action.FORK_INSTEAD;
                },
                thread);
        String what = successor == SuccessorState.ABOUT_TO_START ? "being" : "already";
        return new WaymarkException.Refused(
                ProblemType.BAD_INPUT,
                what + " continued in another thread, " + thread + ": " + source.name(),
                source.isThread() ? remedy.withDetail(source.name()) : remedy);
    }
}
