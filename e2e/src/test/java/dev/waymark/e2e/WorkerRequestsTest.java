package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.RequestCounter;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.tool.java.JavaTools;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a worker asks the server for, beside its tasks. */
@Timeout(120)
class WorkerRequestsTest {
    record Nothing() {}

    @Test
    void safeCalls_inTheWorkflowsProcess_readNoHistory() throws Exception {
        List<String> traces = new CopyOnWriteArrayList<>();
        JavaTool<Nothing> look = JavaTool.of("look", "Looks", Nothing.class, (nothing, context) -> {
                    traces.add(context.traceparent().orElseThrow());
                    return "seen";
                })
                .safeToRetry();
        RequestCounter requests = new RequestCounter();
        try (DevServer server = DevServer.inMemory(0);
                Connection connection = Connection.to(server.address());
                Connection counted = Connection.to(server.address(), requests);
                AgentClient client = AgentClient.on(connection, WireNames.TASK_QUEUE);
                AgentWorker worker = AgentWorker.on(counted)
                        .agents(AgentSpec.of("looker", "looking:model", look.spec()))
                        .provider(
                                "looking",
                                request -> traces.size() == 3
                                        ? Reply.of(new Part.Text("Done."))
                                        : Reply.of(new Part.ToolUse("tu_" + traces.size(), "look", Json.EMPTY_OBJECT)))
                        .tools(JavaTools.of(look))
                        .build()) {
            worker.start();

            client.start(Prompt.of("looker", "Look three times.")).await();

            assertThat(traces).hasSize(3).doesNotHaveDuplicates();
            assertThat(requests.count("RespondActivityTaskCompleted")).isPositive();
            assertThat(requests.count("GetWorkflowExecutionHistory")).isZero();
        }
    }
}
