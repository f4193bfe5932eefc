package dev.waymark.worker.tool;

import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.ClaimRequest;
import dev.waymark.worker.metrics.AttemptMetrics;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;
import io.temporal.api.failure.v1.Failure;
import io.temporal.api.update.v1.Input;
import io.temporal.api.update.v1.Meta;
import io.temporal.api.update.v1.Outcome;
import io.temporal.api.update.v1.Request;
import io.temporal.api.update.v1.WaitPolicy;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.failure.TemporalFailure;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Asks a workflow whether this execution of a tool may take effect. The workflow's history records the claims and the
 * ends of activities in one order, so the answer is final. Thread-safe.
 */
public final class ClaimSender {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final WorkflowClient client;
    private final AttemptMetrics metrics;

    public ClaimSender(WorkflowClient client, AttemptMetrics metrics) {
        this.client = client;
        this.metrics = metrics;
    }

    /**
     * The answer to a claim.
     *
     * @param refusal why the execution may not take effect; empty if the claim is granted
     * @param token the fencing token, if the claim is granted
     */
    record Answer(Optional<String> refusal, OptionalLong token) {
        private static Answer refused(String why) {
            return new Answer(Optional.of(why), OptionalLong.empty());
        }
    }

    /**
     * Sends the claim to exactly this run, and repeats the request until it is answered. Without an answer within ten
     * seconds, the claim counts as refused.
     *
     * @throws InterruptedException if the calling thread was interrupted; the claim may have been granted
     */
    Answer ask(String workflowId, String runId, ClaimRequest claim) throws InterruptedException {
        Answer answer = answer(workflowId, runId, claim);
        metrics.claim(answer.refusal().isEmpty());
        return answer;
    }

    private Answer answer(String workflowId, String runId, ClaimRequest claim) throws InterruptedException {
        UpdateWorkflowExecutionRequest request = request(workflowId, runId, claim);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        String trouble = "";
        for (long left = PATIENCE.toNanos(); left > 0; left = deadline - System.nanoTime()) {
            try {
                Outcome outcome = client.getWorkflowServiceStubs()
                        .blockingStub()
                        .withDeadlineAfter(left, TimeUnit.NANOSECONDS)
                        .updateWorkflowExecution(request)
                        .getOutcome();
                switch (outcome.getValueCase()) {
                    case SUCCESS -> {
                        return read(workflowId, outcome.getSuccess());
                    }
                    case FAILURE -> {
                        return Answer.refused(reason(workflowId, outcome.getFailure()));
                    }
                    case VALUE_NOT_SET -> trouble = "the workflow has not answered yet";
                }
            } catch (StatusRuntimeException e) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("interrupted while claiming");
                }
                if (isFinal(e.getStatus().getCode())) {
                    return Answer.refused(
                            "the claim was refused: " + e.getStatus().getDescription());
                }
                trouble = String.valueOf(e.getStatus().getDescription());
                TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
            }
        }
        return Answer.refused("the claim was not answered in time: " + trouble);
    }

    private UpdateWorkflowExecutionRequest request(String workflowId, String runId, ClaimRequest claim) {
        return UpdateWorkflowExecutionRequest.newBuilder()
                .setNamespace(client.getOptions().getNamespace())
                .setWorkflowExecution(
                        WorkflowExecution.newBuilder().setWorkflowId(workflowId).setRunId(runId))
                .setWaitPolicy(WaitPolicy.newBuilder()
                        .setLifecycleStage(
                                UpdateWorkflowExecutionLifecycleStage
                                        .UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED))
                .setRequest(Request.newBuilder()
                        .setMeta(Meta.newBuilder()
                                .setUpdateId(claim.updateId())
                                .setIdentity(client.getOptions().getIdentity()))
                        .setInput(Input.newBuilder()
                                .setName(WireNames.CLAIM)
                                .setArgs(PayloadJson.dataConverter(client, workflowId)
                                        .toPayloads(claim)
                                        .orElseThrow())))
                .build();
    }

    private String reason(String workflowId, Failure failure) {
        RuntimeException refusal = PayloadJson.dataConverter(client, workflowId).failureToException(failure);
        return String.valueOf(
                refusal instanceof TemporalFailure told ? told.getOriginalMessage() : refusal.getMessage());
    }

    private Answer read(String workflowId, Payloads payloads) {
        ClaimRequest.Answer answer = PayloadJson.dataConverter(client, workflowId)
                .fromPayloads(0, Optional.of(payloads), ClaimRequest.Answer.class, ClaimRequest.Answer.class);
        if (!answer.granted()) {
            return Answer.refused("the claim belongs to another execution");
        }
        return new Answer(
                Optional.empty(), answer.token() == 0 ? OptionalLong.empty() : OptionalLong.of(answer.token()));
    }

    /** Whether a retry would get the same answer. */
    private static boolean isFinal(Status.Code code) {
        return switch (code) {
            case NOT_FOUND, INVALID_ARGUMENT, FAILED_PRECONDITION, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED ->
                true;
            case OK,
                    CANCELLED,
                    UNKNOWN,
                    DEADLINE_EXCEEDED,
                    ALREADY_EXISTS,
                    RESOURCE_EXHAUSTED,
                    ABORTED,
                    OUT_OF_RANGE,
                    INTERNAL,
                    UNAVAILABLE,
                    DATA_LOSS -> false;
        };
    }
}
