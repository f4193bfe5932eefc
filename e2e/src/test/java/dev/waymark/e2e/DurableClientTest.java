package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.e2e.product.Dev;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.ResetWorkflowExecutionRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
@Tag("full")
class DurableClientTest extends ClientContract {
    @Override
    Dev start(Path agents) {
        return Dev.durable(agents);
    }

    @Test
    void wait_overAReset_returnsTheOutcomeOfTheNewRun() throws Exception {
        client.start(Prompt.of("slower", "Hi").withThread("reset"));
        CompletableFuture<AgentResult> waiting =
                CompletableFuture.supplyAsync(() -> client.turn("reset").await());
        try (Connection connection = Connection.to(dev.address())) {
            connection
                    .stubs()
                    .blockingStub()
                    .resetWorkflowExecution(ResetWorkflowExecutionRequest.newBuilder()
                            .setNamespace(connection.namespace())
                            .setWorkflowExecution(WorkflowExecution.newBuilder().setWorkflowId("reset"))
                            .setWorkflowTaskFinishEventId(firstTaskCompleted(connection, "reset"))
                            .setRequestId("reset-once")
                            .build());
        }

        assertThat(AgentResult.assertComplete(waiting.join()).text()).isEqualTo("At last.");
        assertThat(client.inspector().verify("reset").agrees()).isTrue();
    }

    /**
     * Waits for the first completed task, and returns its event id. The server refuses a reset to a task that no worker
     * has completed.
     */
    private static long firstTaskCompleted(Connection connection, String thread) {
        GetWorkflowExecutionHistoryRequest request = GetWorkflowExecutionHistoryRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setExecution(WorkflowExecution.newBuilder().setWorkflowId(thread))
                .build();
        return await().atMost(Duration.ofSeconds(60))
                .until(
                        () -> connection
                                .stubs()
                                .blockingStub()
                                .getWorkflowExecutionHistory(request)
                                .getHistory()
                                .getEventsList()
                                .stream()
                                .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow()
                .getEventId();
    }
}
