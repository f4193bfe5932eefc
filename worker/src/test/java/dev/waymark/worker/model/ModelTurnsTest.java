package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.connect.Connection;
import dev.waymark.contract.Names;
import dev.waymark.contract.Outcome;
import dev.waymark.contract.Say;
import dev.waymark.contract.StartInput;
import dev.waymark.conversation.Problem;
import dev.waymark.testkit.model.Answer;
import dev.waymark.testkit.model.AnthropicServer;
import dev.waymark.testkit.model.ModelServer;
import dev.waymark.testkit.model.OpenAiServer;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.WorkflowExecutionHistory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whole turns with models over real HTTP: what they cost in calls, retries by Temporal included, and what they come to. */
@Timeout(120)
class ModelTurnsTest {
    private static InMemoryServer temporal;
    private static Connection connection;

    private ModelServer anthropic;
    private ModelServer openai;
    private AgentWorker worker;

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

    @BeforeEach
    void begin() {
        anthropic = new AnthropicServer();
        openai = new OpenAiServer();
        worker = AgentWorker.builder(connection.client())
                .taskQueue("models-" + UUID.randomUUID())
                .agents(
                        AgentSpec.of("a", "anthropic:m-1", BuiltInTools.askUser()),
                        AgentSpec.of("o", "openai:m-1", BuiltInTools.askUser()))
                .providers(ModelProviders.of(Map.of(
                        AnthropicProvider.NAME, AnthropicProvider.of(anthropic.environment()),
                        OpenAiProvider.NAME, OpenAiProvider.of(openai.environment()))))
                .build();
        worker.start();
    }

    @AfterEach
    void end() {
        worker.close();
        anthropic.close();
        openai.close();
    }

    @ParameterizedTest
    @CsvSource({
        "400, invalid_request_error, 1",
        "401, authentication_error,  1",
        "402, billing_error,         1",
        "403, permission_error,      1",
        "404, not_found_error,       1",
        "408, timeout_error,         2",
        "409, conflict,              2",
        "413, request_too_large,     1",
        "429, rate_limit_error,      2",
        "429, insufficient_quota,    1",
        "500, api_error,             2",
        "503, overloaded,            2",
        "529, overloaded_error,      2",
    })
    void turn_withATroubleAtFirst_costsThisManyCalls(int status, String name, int calls) {
        String body = "{\"error\":{\"type\":\"" + name + "\",\"message\":\"No.\"}}";
        for (ModelServer server : List.of(anthropic, openai)) {
            server.answers(Answer.error(status, body).with("Retry-After-Ms", "20"), Answer.says("Hello."));
        }

        List<Outcome> outcomes = Stream.of(start("a"), start("o"))
                .map(thread -> thread.getResult(Outcome.class))
                .toList();

        assertThat(outcomes).extracting(Outcome::status).containsOnly(calls > 1 ? "complete" : "failed");
        assertThat(List.of(anthropic.received().size(), openai.received().size()))
                .containsOnly(calls);
    }

    @Test
    void stream_cutInTheMiddle_isAskedForAgainAndStoredOnce() {
        anthropic.answers(
                Answer.says("Hello, ", "wor").cutAfter(1),
                Answer.says("Hello, ", "world.").using(41, 12));

        WorkflowStub thread = start("a");

        Outcome outcome = thread.getResult(Outcome.class);
        assertThat(List.of(outcome.status(), outcome.text())).isEqualTo(List.of("complete", "Hello, world."));
        assertThat(anthropic.received()).hasSize(2);
    }

    @Test
    void arguments_thatAreNoJson_failTheirCallAndNothingElse() {
        for (ModelServer server : List.of(anthropic, openai)) {
            server.answers(
                    Answer.says("One thing.").calls("tu_1", "ask_user", "{\"question\": \"Which"),
                    Answer.says("Never mind."));
        }

        List<Outcome> outcomes = Stream.of(start("a"), start("o"))
                .map(thread -> thread.getResult(Outcome.class))
                .toList();

        assertThat(outcomes).extracting(Outcome::text).containsOnly("Never mind.");
        for (ModelServer server : List.of(anthropic, openai)) {
            assertThat(server.complaints()).isEmpty();
            assertThat(server.received()).hasSize(2);
            assertThat(server.received().get(1).body().path("messages").toString())
                    .contains("Invalid input for tool");
        }
    }

    @Test
    void reply_cutInItsCalls_failsTheTurnAndAsksNobody() {
        anthropic.answers(Answer.says("One thing.")
                .calls("tu_1", "ask_user", "{\"question\": \"Which day?\"}")
                .stopping("max_tokens"));

        Outcome outcome = start("a").getResult(Outcome.class);

        assertThat(outcome.status()).isEqualTo("failed");
        assertThat(outcome.error().map(Problem::type)).contains("CallCut");
        assertThat(anthropic.received()).hasSize(1);
    }

    @Test
    void retryAfter_isWaitedFor() {
        anthropic.answers(Answer.error(429, "{}").with("Retry-After", "2"), Answer.says("Hello."));
        long begun = System.nanoTime();

        start("a").getResult(Outcome.class);

        // Temporal's own first interval would be one second.
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofMillis(1_800));
        assertThat(anthropic.received()).hasSize(2);
    }

    @Test
    void key_echoedByTheService_isNotInHistory() {
        String key = ModelServer.KEY;
        anthropic.answers(
                Answer.error(429, key).with("Retry-After-Ms", "20"),
                Answer.error(
                        401, "{\"error\":{\"type\":\"authentication_error\",\"message\":\"wrong: " + key + "\"}}"));

        WorkflowStub thread = start("a");

        assertThat(thread.getResult(Outcome.class).status()).isEqualTo("failed");
        WorkflowExecutionHistory history =
                connection.client().fetchHistory(thread.getExecution().getWorkflowId());
        String bytes = history.getEvents().stream()
                .map(event -> new String(event.toByteArray(), StandardCharsets.ISO_8859_1))
                .reduce("", String::concat);
        assertThat(bytes).contains("wrong: [key]").doesNotContain(key);
    }

    private WorkflowStub start(String agent) {
        WorkflowStub stub = connection
                .client()
                .newUntypedWorkflowStub(
                        Names.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(worker.taskQueue())
                                .setWorkflowId("thread-" + UUID.randomUUID())
                                .build());
        stub.start(StartInput.of(agent).saying(Say.message("m1", "Hi")).closingAfterOneTurn());
        return stub;
    }
}
