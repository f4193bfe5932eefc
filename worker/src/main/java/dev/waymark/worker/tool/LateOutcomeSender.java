package dev.waymark.worker.tool;

import dev.waymark.connect.RequestRetry;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.message.LateOutcome;
import dev.waymark.conversation.fact.SignalNames;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.workflowservice.v1.SignalWorkflowExecutionRequest;
import io.temporal.client.WorkflowClient;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the outcome of a claimed execution to its workflow when the server no longer accepts the completion of the
 * activity. Otherwise the outcome would stay unknown although it is known here. Thread-safe.
 */
public final class LateOutcomeSender {
    private static final Logger LOG = LoggerFactory.getLogger(LateOutcomeSender.class);

    /**
     * Long enough for a restart of the server. A longer outage has most likely lost more than this outcome. Refusals
     * are retried too, since a worker's credentials may be renewed meanwhile.
     */
    private static final RequestRetry RETRY =
            RequestRetry.every(Duration.ofMillis(500), Duration.ofMinutes(2), answer -> answer != ServerAnswer.GONE);

    private static final int CALL_SECONDS = 10;

    private final WorkflowClient client;

    public LateOutcomeSender(WorkflowClient client) {
        this.client = client;
    }

    /**
     * Sends the outcome to the thread's newest run, since the thread may have continued in another run. Retries for up
     * to two minutes while the server fails; duplicates are harmless. An outcome that the server does not accept is
     * logged as lost.
     *
     * @throws InterruptedException if the calling thread was interrupted; the outcome may have been sent
     */
    void send(String workflowId, LateOutcome late) throws InterruptedException {
        SignalWorkflowExecutionRequest request = SignalWorkflowExecutionRequest.newBuilder()
                .setNamespace(client.getOptions().getNamespace())
                .setIdentity(client.getOptions().getIdentity())
                .setWorkflowExecution(WorkflowExecution.newBuilder().setWorkflowId(workflowId))
                .setSignalName(SignalNames.LATE_OUTCOME)
                .setRequestId(late.execution())
                .setInput(PayloadJson.dataConverter(client, workflowId)
                        .toPayloads(late)
                        .orElseThrow())
                .build();
        try {
            RETRY.send(left -> client.getWorkflowServiceStubs()
                    .blockingStub()
                    .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
                    .signalWorkflowExecution(request));
            LOG.info("thread {}: reported the outcome of call {} late", workflowId, late.callId());
        } catch (StatusRuntimeException e) {
            LOG.warn("thread {}: the outcome of call {} is lost: {}", workflowId, late.callId(), e.getStatus());
        }
    }
}
