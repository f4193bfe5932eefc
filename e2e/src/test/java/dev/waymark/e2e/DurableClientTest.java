package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.connect.Connection;
import dev.waymark.e2e.product.Dev;
import dev.waymark.starter.client.AgentResult;
import dev.waymark.starter.client.Prompt;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.workflowservice.v1.ResetWorkflowExecutionRequest;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class DurableClientTest extends ClientContract {
    @Override
    Dev start(Path agents) {
        return Dev.durable(agents);
    }

    @Test
    void wait_overAReset_reportsWhatTheNewRunComesTo() throws Exception {
        client.start(Prompt.of("slow", "Hi").withThread("reset"));
        CompletableFuture<AgentResult> waiting = CompletableFuture.supplyAsync(() -> client.result("reset"));
        try (Connection connection = Connection.to(dev.address())) {
            long firstTaskCompleted = 4;
            connection
                    .stubs()
                    .blockingStub()
                    .resetWorkflowExecution(ResetWorkflowExecutionRequest.newBuilder()
                            .setNamespace(connection.namespace())
                            .setWorkflowExecution(WorkflowExecution.newBuilder().setWorkflowId("reset"))
                            .setWorkflowTaskFinishEventId(firstTaskCompleted)
                            .setRequestId("reset-once")
                            .build());
        }

        assertThat(AgentResult.assertComplete(waiting.join()).text()).isEqualTo("At last.");
        assertThat(client.verify("reset").agrees()).isTrue();
    }
}
