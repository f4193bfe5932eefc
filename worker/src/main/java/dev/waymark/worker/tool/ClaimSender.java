package dev.waymark.worker.tool;

import dev.waymark.connect.RequestRetry;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.message.ClaimRequest;
import dev.waymark.conversation.fact.SignalNames;
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
    private static final RequestRetry RETRY =
            RequestRetry.every(Duration.ofMillis(200), Duration.ofSeconds(10), ServerAnswer::mayPass);

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
        try {
            Outcome outcome = RETRY.send(left -> outcome(request, left));
            return outcome.hasSuccess()
                    ? read(workflowId, outcome.getSuccess())
                    : Answer.refused(reason(workflowId, outcome.getFailure()));
        } catch (StatusRuntimeException e) {
            String what = ServerAnswer.of(e).mayPass() ? "was not answered in time" : "was refused";
            return Answer.refused("the claim " + what + ": " + e.getStatus().getDescription());
        }
    }

    private Outcome outcome(UpdateWorkflowExecutionRequest request, long millis) {
        Outcome outcome = client.getWorkflowServiceStubs()
                .blockingStub()
                .withDeadlineAfter(millis, TimeUnit.MILLISECONDS)
                .updateWorkflowExecution(request)
                .getOutcome();
        if (outcome.getValueCase() == Outcome.ValueCase.VALUE_NOT_SET) {
            throw Status.DEADLINE_EXCEEDED
                    .withDescription("the workflow has not answered yet")
                    .asRuntimeException();
        }
        return outcome;
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
                                .setName(SignalNames.CLAIM)
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
}
