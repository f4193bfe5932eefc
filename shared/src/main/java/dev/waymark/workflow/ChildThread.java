package dev.waymark.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.ActivityFailures;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.call.TurnEnd;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.thread.StatusReport;
import io.temporal.api.enums.v1.ParentClosePolicy;
import io.temporal.failure.ApplicationFailure;
import io.temporal.failure.CanceledFailure;
import io.temporal.workflow.CancelExternalWorkflowException;
import io.temporal.workflow.ChildWorkflowCancellationType;
import io.temporal.workflow.ChildWorkflowOptions;
import io.temporal.workflow.ChildWorkflowStub;
import io.temporal.workflow.ExternalWorkflowStub;
import io.temporal.workflow.Functions;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A thread as a child of a workflow of your own. All methods are called by the code of that workflow, and are
 * deterministic.
 *
 * <p>The thread stays open for more turns until the workflow closes or cancels it. People see it and decide in it as in
 * any other thread. It reports to the workflow when a turn ends, and when only people can continue it. If a wait for it is
 * cancelled, the thread is cancelled.
 *
 * <pre>{@code
 * ChildThread thread = ChildThread.start("order-17", AgentTask.of("billing", "Settle the bill of table nine"));
 * AgentOutcome outcome = thread.await();
 * while (outcome.isInterrupted()) {
 *     outcome = thread.await(); // A person decides.
 * }
 * thread.close();
 * }</pre>
 */
public final class ChildThread {
    private final String id;
    private final ExternalWorkflowStub thread;
    private int awaited;
    private SubagentProgress latest;
    /** Whether {@link #latest} was returned, or answered, so that only the next report counts. */
    private boolean isOld;

    private @Nullable AgentOutcome closed;

    private ChildThread(Carried before) {
        this.id = before.id();
        this.thread = Workflow.newUntypedExternalWorkflowStub(id);
        this.awaited = before.awaited();
        this.latest = before.latest();
        this.isOld = before.isOld();
        // A report may be here already, and is newer than all of these.
        ThreadReports.listen(id, this::report);
    }

    /** What {@link #carried} returns. */
    private record Carried(String id, int awaited, SubagentProgress latest, boolean isOld) {}

    /** Starts a thread on task queue {@code waymark}, and returns once the server has started it. */
    public static ChildThread start(String id, AgentTask task) {
        return start(id, task, options -> options);
    }

    /**
     * Starts a thread, and returns once the server has started it.
     *
     * @param id the id of the thread; without a slash, which separates subagents
     * @param change sets options of the child workflow, such as the task queue
     * @throws io.temporal.failure.ChildWorkflowFailure if a workflow with this id is open
     */
    public static ChildThread start(String id, AgentTask task, UnaryOperator<ChildWorkflowOptions.Builder> change) {
        if (id.contains("/")) {
            throw new IllegalArgumentException("the id of a thread must not contain a slash: " + id);
        }
        ChildThread child = new ChildThread(new Carried(id, 0, SubagentProgress.NONE, true));
        // With any other policy, a server would end the thread when this workflow continues as new.
        ChildWorkflowOptions options = change.apply(
                        ChildWorkflowOptions.newBuilder().setTaskQueue(WireNames.TASK_QUEUE))
                .setWorkflowId(id)
                .setParentClosePolicy(ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON)
                .setCancellationType(ChildWorkflowCancellationType.ABANDON)
                .build();
        ChildWorkflowStub stub = Workflow.newUntypedChildWorkflowStub(WireNames.WORKFLOW_TYPE, options);
        JsonNode input = PayloadJson.MAPPER.valueToTree(task.start().reportingToWorkflow(id));
        // Otherwise, a cancellation of this workflow would seem to be the end of the thread.
        Workflow.newDetachedCancellationScope(() -> stub.executeAsync(AgentOutcome.class, input)
                        .handle((outcome, failure) -> {
                            child.closed = failure == null ? outcome : ended(failure);
                            return null;
                        }))
                .run();
        stub.getExecution().get();
        return child;
    }

    /** The thread in the next run of a workflow that has continued as new with {@link #carried}. */
    public static ChildThread of(Json carried) {
        return new ChildThread(PayloadJson.MAPPER.convertValue(carried, Carried.class));
    }

    /**
     * The input for the next run of this workflow, which continues with this thread: {@link #of}. In the next run, the
     * workflow no longer learns that the thread was terminated.
     */
    public Json carried() {
        return Json.of(PayloadJson.MAPPER.convertValue(new Carried(id, awaited, latest, isOld), Object.class));
    }

    /** The id of the thread. */
    public String id() {
        return id;
    }

    /** Waits until the turn ends, only people can continue it, or the thread is closed. */
    public AgentOutcome await() {
        orCancel(() -> {
            Workflow.await(this::isSettled);
            return true;
        });
        return outcome();
    }

    /** Like {@link #await()}, for at most this time; empty if nothing has happened until then. */
    public Optional<AgentOutcome> await(Duration most) {
        return orCancel(() -> Workflow.await(most, this::isSettled)) ? Optional.of(outcome()) : Optional.empty();
    }

    /** Cancels the thread if the wait is cancelled, and returns only then: a server drops the request of a closed workflow. */
    private boolean orCancel(Functions.Func<Boolean> wait) {
        try {
            return wait.apply();
        } catch (CanceledFailure e) {
            Workflow.newDetachedCancellationScope(this::cancel).run();
            throw e;
        }
    }

    /** Sends a message to the agent, which starts a turn or is added to the running one. */
    public void say(String text) {
        send(new PersonFact.UserSpoke(
                Optional.empty(), Optional.empty(), Optional.of(Message.user(text)), false, Optional.empty(), false));
    }

    /**
     * Sends an answer, a decision, a limit, or anything else that people send, such as {@code
     * Approval.approve().withCall(item.callId()).withDigest(item.argsDigest().orElseThrow())}. The thread ignores what it
     * cannot apply, so wait with a time limit.
     *
     * @throws ApplicationFailure if the thread is closed
     */
    public void send(PersonFact message) {
        isOld = isOld || latest.waiting();
        thread.signal(message.signal(), PayloadJson.MAPPER.<JsonNode>valueToTree(message.payload()));
    }

    /** Closes the thread once it is idle, unless it is closed already. */
    public void close() {
        try {
            send(new PersonFact.CloseRequested(Optional.empty()));
        } catch (ApplicationFailure e) {
            // It is closed.
        }
    }

    /** Cancels the thread, which ends its turn and closes it, unless it is closed already. */
    public void cancel() {
        try {
            thread.cancel();
        } catch (ApplicationFailure | CancelExternalWorkflowException e) {
            // It is closed.
        }
    }

    private void report(SubagentProgress progress) {
        latest = progress;
        isOld = false;
    }

    private boolean isSettled() {
        return closed != null || (!isOld && (latest.waiting() || isNew(latest.ended())));
    }

    private boolean isNew(Optional<TurnEnd> end) {
        return end.map(turn -> turn.turn() > awaited).orElse(false);
    }

    private AgentOutcome outcome() {
        if (!isOld && isNew(latest.ended())) {
            TurnEnd end = latest.ended().orElseThrow();
            awaited = end.turn();
            isOld = true;
            return new AgentOutcome(end.status(), end.text(), end.problem(), List.of());
        }
        if (!isOld && latest.waiting()) {
            isOld = true;
            return new AgentOutcome(StatusReport.INTERRUPTED, "", Optional.empty(), latest.asks());
        }
        return Objects.requireNonNull(closed, "closed");
    }

    /** The outcome of a thread that has closed without a result. */
    private static AgentOutcome ended(Throwable failure) {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        String status = ActivityFailures.childEnd(cause);
        return new AgentOutcome(
                status, "", Optional.of(new Problem(status, String.valueOf(cause.getMessage()))), List.of());
    }
}
