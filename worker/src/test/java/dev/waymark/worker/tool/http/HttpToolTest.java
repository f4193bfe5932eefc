package dev.waymark.worker.tool.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.Endpoint;
import dev.waymark.agent.Endpoint.Method;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.RunOutcome;
import dev.waymark.contract.SayPayload;
import dev.waymark.contract.StartInput;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.HistoryCheck;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.api.enums.v1.EventType;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.WorkflowExecutionHistory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests as tools of agents that a whole worker runs. */
@Timeout(120)
class HttpToolTest {
    private static final Json SCHEMA = Json.of(Map.of(
            "type",
            "object",
            "required",
            List.of("cents"),
            "properties",
            Map.of("cents", Map.of("type", "integer"), "card", Map.of("type", "string"))));

    private static InMemoryServer temporal;
    private static Connection connection;

    private final String thread = "thread-" + UUID.randomUUID();

    @BeforeAll
    static void connect() throws Exception {
        temporal = InMemoryServer.start(0);
        connection = Connection.to(temporal.address());
    }

    @AfterAll
    static void disconnect() {
        connection.close();
        temporal.close();
    }

    private static ToolSpec.Builder charge(Method method, String url) {
        return ToolSpec.http("charge", Endpoint.of(method, url).allowingPrivate())
                .describedAs("Charges", SCHEMA);
    }

    /** Calls the tool as often as there are arguments, one after the other, and repeats what came of them. */
    private static ModelProvider calling(List<Map<String, ?>> calls) {
        return request -> {
            List<String> results = request.messages().stream()
                    .flatMap(message -> message.toolResults().stream())
                    .map(Part.ToolResult::content)
                    .toList();
            return results.size() < calls.size()
                    ? Reply.of(new Part.ToolUse(
                            "tu_" + (results.size() + 1), "charge", Json.of(calls.get(results.size()))))
                    : Reply.of(new Part.Text(String.join("|", results)));
        };
    }

    @SafeVarargs
    private String run(ToolSpec tool, Map<String, ?>... calls) throws Exception {
        try (AgentWorker worker = AgentWorker.builder(connection.client())
                .taskQueue(thread)
                .agents(AgentSpec.of("a", "test:model", tool))
                .providers(ModelProviders.of(Map.of("test", calling(List.of(calls)))))
                .build()) {
            worker.start();
            WorkflowStub stub = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(thread)
                                    .setWorkflowId(thread)
                                    .build());
            stub.start(StartInput.of("a").closingAfterOneTurn().saying(SayPayload.message("m", "Charge")));
            return stub.getResult(RunOutcome.class).text();
        }
    }

    private WorkflowExecutionHistory history() {
        WorkflowExecutionHistory history = connection.client().fetchHistory(thread);
        HistoryCheck.check(history);
        return history;
    }

    private long claims() {
        return history().getEvents().stream()
                .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED)
                .count();
    }

    @Test
    void sideEffectingTool_isClaimed_andSendsAKeyForEachCallThatIsMeant() throws Exception {
        try (RecordingServer server = RecordingServer.with(
                (exchange, request) -> RecordingServer.send(exchange, 200, "charged " + request.body()))) {
            String text =
                    run(charge(Method.POST, server.url("/charges")).build(), Map.of("cents", 5), Map.of("cents", 5));

            assertThat(text).isEqualTo("charged {\"cents\":5}|charged {\"cents\":5}");
            assertThat(claims()).isEqualTo(2);
            assertThat(server.requests().stream()
                            .map(request -> request.headers().getFirst("Idempotency-Key"))
                            .distinct())
                    .hasSize(2)
                    .allMatch(key -> key.matches("[0-9a-f]{64}"));
        }
    }

    @Test
    void toolThatIsSafeToRetry_isNotClaimed_andSendsNoKey() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 200, "found"))) {
            String text = run(
                    charge(Method.GET, server.url("/charges/{cents}"))
                            .safeToRetry()
                            .build(),
                    Map.of("cents", 5));

            assertThat(text).isEqualTo("found");
            assertThat(claims()).isZero();
            assertThat(server.requests().get(0).target()).isEqualTo("/charges/5");
            assertThat(server.requests().get(0).headers()).doesNotContainKey("Idempotency-key");
        }
    }

    @Test
    void argumentsThatDoNotFit_areToldTheModel_andNothingIsSent() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 200, "charged"))) {
            String text = run(
                    charge(Method.POST, server.url("/{card}/charges")).build(),
                    Map.of("cents", 5),
                    Map.of("cents", 5, "card", ".."));

            assertThat(text)
                    .isEqualTo("Invalid input for tool \"charge\": card stands in the address: expected text, a number,"
                            + " true or false, found nothing|Invalid input for tool \"charge\": . and .. are no names"
                            + " in a path");
            assertThat(server.requests()).isEmpty();
        }
    }

    @Test
    void otherStatus_isAnErrorThatTheModelSees() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 402, "no money"))) {
            assertThat(run(charge(Method.POST, server.url("/")).build(), Map.of("cents", 5)))
                    .isEqualTo("Tool error: status 402: no money");
        }
    }

    @Test
    void privateAddress_isRefused() throws Exception {
        try (RecordingServer server =
                RecordingServer.with((exchange, request) -> RecordingServer.send(exchange, 200, "reached"))) {
            ToolSpec tool = ToolSpec.http("charge", Endpoint.of(Method.POST, server.url("/")))
                    .describedAs("Charges", SCHEMA)
                    .build();

            assertThat(run(tool, Map.of("cents", 5)))
                    .isEqualTo("Tool error: its address is private, and the tool does not say allow_private: true");
            assertThat(server.requests()).isEmpty();
        }
    }

    /** The first answer never comes. */
    private static RecordingServer losingTheFirst(AtomicInteger effects) {
        return RecordingServer.with((exchange, request) -> {
            if (effects.incrementAndGet() > 1) {
                RecordingServer.send(exchange, 200, "charged");
            }
        });
    }

    @Test
    void lostAnswer_isUnknown_andTheSameAskedForAgainKeepsItsKey() throws Exception {
        AtomicInteger effects = new AtomicInteger();
        try (RecordingServer server = losingTheFirst(effects)) {
            String text = run(
                    charge(Method.POST, server.url("/")).honouringKey().build(),
                    Map.of("cents", 5),
                    Map.of("cents", 5));

            assertThat(text)
                    .startsWith("{\"error\":\"Tool 'charge' (call tu_1) was requested but its execution did not"
                            + " complete durably")
                    .endsWith("|charged");
            assertThat(server.requests()).hasSize(2);
            assertThat(server.requests().stream()
                            .map(request -> request.headers().getFirst("Idempotency-Key"))
                            .distinct())
                    .hasSize(1);
        }
    }

    @Test
    void lostAnswer_thatDidNotLand_isSentAgainWithItsKey() throws Exception {
        AtomicInteger effects = new AtomicInteger();
        try (RecordingServer server = losingTheFirst(effects)) {
            String text = run(
                    charge(Method.POST, server.url("/"))
                            .honouringKey()
                            .timeout(Duration.ofSeconds(2))
                            .verifiedBy("echo", "{\"landed\": false}")
                            .build(),
                    Map.of("cents", 5));

            assertThat(text).isEqualTo("charged");
            assertThat(claims()).isEqualTo(2);
            assertThat(server.requests().stream()
                            .map(request -> request.headers().getFirst("Idempotency-Key"))
                            .distinct())
                    .hasSize(1);
        }
    }

    @Test
    void lostAnswer_thatDidLand_isFoundOut() throws Exception {
        AtomicInteger effects = new AtomicInteger();
        try (RecordingServer server = losingTheFirst(effects)) {
            String text = run(
                    charge(Method.POST, server.url("/"))
                            .timeout(Duration.ofSeconds(2))
                            .verifiedBy("echo", "{\"landed\": true, \"result\": \"charged before\"}")
                            .build(),
                    Map.of("cents", 5));

            assertThat(text).isEqualTo("charged before");
            assertThat(effects).hasValue(1);
        }
    }

    /** No variable can be set in a running JVM, so one that is there is the secret. */
    @Test
    void secret_thatTheServerRepeats_isNotInHistory() throws Exception {
        String secret = System.getenv("PATH");
        try (RecordingServer server = RecordingServer.with((exchange, request) -> RecordingServer.send(
                exchange,
                request.body().contains("6") ? 500 : 200,
                request.headers().getFirst("X-Token") + " " + request.target()))) {
            String text = run(
                    ToolSpec.http(
                                    "charge",
                                    Endpoint.of(Method.POST, server.url("/x"))
                                            .allowingPrivate()
                                            .withHeader("X-Token", "Bearer ${PATH}"))
                            .describedAs("Charges", SCHEMA)
                            .build(),
                    Map.of("cents", 5),
                    Map.of("cents", 6));

            assertThat(server.requests().get(0).headers().getFirst("X-Token")).isEqualTo("Bearer " + secret);
            assertThat(text).isEqualTo("Bearer ${PATH} /x|Tool error: status 500: Bearer ${PATH} /x");
            assertThat(history().getHistory().toString()).doesNotContain(secret);
        }
    }
}
