package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerState;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class MetricsEndpointTest {
    private static final JavaTool<Nothing> CHARGE =
            JavaTool.of("charge", "Charges", Nothing.class, (args, context) -> "charged");

    record Nothing() {}

    /** Otherwise anyone who reaches the port could make a supervisor restart the worker. */
    @Test
    void stalledConnections_doNotDelayHealthChecks() throws Exception {
        List<Socket> stalled = new ArrayList<>();
        try (MetricsEndpoint endpoint = MetricsEndpoint.listen("127.0.0.1", 0)) {
            String[] address = endpoint.address().split(":");
            for (int i = 0; i < 100; i++) {
                Socket socket = new Socket(address[0], Integer.parseInt(address[1]));
                socket.getOutputStream().write("GET /healthz HTTP/1.1\r\nHost:".getBytes(StandardCharsets.US_ASCII));
                stalled.add(socket);
            }
            assertThat(get(endpoint, "/healthz").body()).isEqualTo("ok\n");
            assertThat(get(endpoint, "/metrics?name[]=jvm_info").body()).contains("jvm_memory_used_bytes");
            assertThat(get(endpoint, "/other").statusCode()).isEqualTo(404);
        } finally {
            for (Socket each : stalled) {
                each.close();
            }
        }
    }

    @Test
    void workerThatGetsNoWork_isReadyAndSaysWhy() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.listen("127.0.0.1", 0)) {
            endpoint.readyWhen(() -> true, () -> Optional.of("another version is current"));

            HttpResponse<String> answer = get(endpoint, "/readyz");

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("ready; another version is current\n");
        }
    }

    @Test
    void lostServerAndLostDatabase_areMetrics() throws Exception {
        try (MetricsEndpoint endpoint = MetricsEndpoint.listen("127.0.0.1", 0)) {
            ServerOutage outage = new ServerOutage("s:7233", () -> ServerState.WITHOUT_DATABASE, System::nanoTime);
            endpoint.count(outage);
            assertThat(get(endpoint, "/metrics").body())
                    .contains("waymark_server_lost 0.0\n", "waymark_server_database_lost 0.0\n");

            outage.look();
            outage.look();

            assertThat(get(endpoint, "/metrics").body())
                    .contains("waymark_server_lost 1.0\n", "waymark_server_database_lost 1.0\n");
        }
    }

    @Test
    void oneTurn_isCountedWithItsCallsTokensAndClaims() throws Exception {
        try (InMemoryServer server = InMemoryServer.start(0);
                MetricsEndpoint endpoint = MetricsEndpoint.listen("127.0.0.1", 0);
                Connection connection =
                        Connection.counted(Optional.of(server.address()), Optional.of(endpoint.sdkScope()))) {
            assertThat(get(endpoint, "/healthz").statusCode()).isEqualTo(200);
            assertThat(get(endpoint, "/readyz").statusCode()).isEqualTo(503);
            AgentWorker worker = worker(connection, endpoint);
            worker.start();
            endpoint.readyWhen(worker::isReady, worker::idleReason);
            assertThat(get(endpoint, "/readyz").body()).isEqualTo("ready\n");

            assertThat(turn(connection)).isEqualTo("complete");

            // The SDK reports its metrics once a second.
            String metrics = await().atMost(Duration.ofMinutes(1))
                    .until(
                            () -> get(endpoint, "/metrics").body(),
                            body -> body.contains("temporal_workflow_completed_total{"));
            assertThat(metrics.lines())
                    .contains(
                            "waymark_turns_total{outcome=\"complete\"} 1.0",
                            "waymark_turn_seconds_count{outcome=\"complete\"} 1",
                            "waymark_model_calls_total{model=\"test:model\",outcome=\"replied\",purpose=\"reply\"} 2.0",
                            "waymark_model_tokens_total{model=\"test:model\",type=\"input\"} 20.0",
                            "waymark_model_tokens_total{model=\"test:model\",type=\"output\"} 4.0",
                            "waymark_tool_calls_total{kind=\"java\",outcome=\"completed\"} 1.0",
                            "waymark_claims_total{outcome=\"granted\"} 1.0",
                            "waymark_projection_seconds_count 2")
                    .anyMatch(line -> line.startsWith("jvm_memory_used_bytes{"))
                    .noneMatch(line -> line.contains("canary"));
            worker.close();
            assertThat(get(endpoint, "/readyz").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void close_endsTheThreadThatReportsTheSdksMetrics() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        MetricsEndpoint endpoint = MetricsEndpoint.listen("127.0.0.1", 0);
        endpoint.sdkScope().counter("sdk").inc(1);
        await().atMost(Duration.ofMinutes(1))
                .until(() -> get(endpoint, "/metrics").body(), body -> body.contains("sdk_total 1.0"));
        assertThat(reporters(before)).isNotEmpty();

        endpoint.close();

        await().atMost(Duration.ofMinutes(1)).until(() -> reporters(before).isEmpty());
    }

    /** The threads that were started since, by JDK executors without a thread factory, such as tally's. */
    private static List<String> reporters(Set<Thread> before) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread) && thread.isAlive())
                .map(Thread::getName)
                .filter(name -> name.startsWith("pool-"))
                .toList();
    }

    private static AgentWorker worker(Connection connection, MetricsEndpoint endpoint) {
        ModelProvider model = request -> {
            Message last = request.messages().get(request.messages().size() - 1);
            Part next = last.toolResults().isEmpty()
                    ? new Part.ToolUse("tu_1", "charge", Json.EMPTY_OBJECT)
                    : new Part.Text("canary");
            return new Reply(List.of(next), new Usage(10, 2), "end_turn");
        };
        return AgentWorker.builder(connection.client())
                .agents(AgentSpec.of("a", "test:model", CHARGE.spec()))
                .providers(ModelProviders.of(Map.of("test", model)))
                .tools(JavaTools.of(List.of(CHARGE)))
                .metrics(endpoint.registry())
                .build();
    }

    private static String turn(Connection connection) {
        WorkflowStub thread = connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(WireNames.TASK_QUEUE)
                                .setWorkflowId("counted")
                                .build());
        thread.start(StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "canary")));
        return thread.getResult(RunOutcome.class).status();
    }

    private static HttpResponse<String> get(MetricsEndpoint endpoint, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://" + endpoint.address() + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
