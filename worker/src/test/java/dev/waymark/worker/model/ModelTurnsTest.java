package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ModelOptions;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usage;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.history.HistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.model.ReplyListener;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.WorkflowExecutionHistory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Complete turns with models over real HTTP: the number of calls, including Temporal's retries, and the outcome. */
@Timeout(120)
@Tag("full")
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
        worker = worker(
                AgentSpec.of("a", "anthropic:m-1", BuiltInTools.askUser()),
                AgentSpec.of("o", "openai:m-1", BuiltInTools.askUser()));
        worker.start();
    }

    private AgentWorker worker(AgentSpec... agents) {
        return AgentWorker.builder(connection.client())
                .taskQueue("models-" + UUID.randomUUID())
                .agents(agents)
                .providers(ModelProviders.of(Map.of(
                        AnthropicProvider.NAME,
                        AnthropicProvider.of(anthropic.environment()),
                        "openai",
                        OpenAiProvider.of(openai.environment()))))
                .build();
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
        "502, x,                     2",
        "503, overloaded,            2",
        "504, timeout_error,         2",
        "529, overloaded_error,      2",
        "400, context_length_exceeded, 1",
        "400, content_filter,        1",
        "418, x,                     1",
        "422, x,                     1",
    })
    void turn_withAFailureAtFirst_takesThisManyCalls(int status, String name, int calls) {
        String body = "{\"error\":{\"type\":\"" + name + "\",\"message\":\"No.\"}}";
        for (ModelServer server : List.of(anthropic, openai)) {
            server.answers(ModelAnswer.error(status, body).with("Retry-After-Ms", "20"), ModelAnswer.says("Hello."));
        }

        List<RunOutcome> outcomes = Stream.of(start("a"), start("o"))
                .map(thread -> thread.getResult(RunOutcome.class))
                .toList();

        assertThat(outcomes).extracting(RunOutcome::status).containsOnly(calls > 1 ? "complete" : "failed");
        assertThat(List.of(anthropic.received().size(), openai.received().size()))
                .containsOnly(calls);
    }

    /** A first answer for both services, the expected number of calls, and the expected failure type, if any. */
    private record Row(String name, ModelAnswer first, int calls, Optional<String> failure) {
        static Row passing(String name, ModelAnswer first) {
            return new Row(name, first, 2, Optional.empty());
        }

        static Row forGood(String name, ModelAnswer first, String failure) {
            return new Row(name, first, 1, Optional.of(failure));
        }

        static Row fine(String name, ModelAnswer first) {
            return new Row(name, first, 1, Optional.empty());
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static ModelAnswer.Raw event(String type) {
        return ModelAnswer.events("{\"type\":\"error\",\"error\":{\"type\":\"" + type + "\",\"message\":\"Sorry.\"}}");
    }

    private static ModelAnswer.Error refusal(int status, String message) {
        return ModelAnswer.error(
                status, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"" + message + "\"}}");
    }

    private static ModelAnswer.Speech question() {
        return ModelAnswer.says("One thing.").calls("tu_1", "ask_user", "{\"question\": \"Which day?\"}");
    }

    static List<Row> troubles() {
        return List.of(
                Row.passing(
                        "stream cut before the first word",
                        ModelAnswer.says("Hello.").cutAfter(0)),
                Row.passing(
                        "stream cut after the last word",
                        ModelAnswer.says("Hello.").cutAfter(1)),
                Row.passing("stream that ends too early", ModelAnswer.events()),
                Row.passing("stream of no JSON", ModelAnswer.events("not JSON")),
                Row.passing("page of a gateway", ModelAnswer.events("<html>").as("text/html")),
                Row.passing(
                        "connection that breaks in the headers' wake",
                        ModelAnswer.events().breaking()),
                Row.passing("overloaded, in a stream", event("overloaded_error")),
                Row.passing("limit of requests, in a stream", event("rate_limit_error")),
                Row.passing("never heard of, in a stream", event("bad_hair_day")),
                Row.passing(
                        "overloaded, in a document",
                        ModelAnswer.events("{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy.\"}}")
                                .as("application/json")),
                Row.forGood("bad request, in a stream", event("invalid_request_error"), "BadRequest"),
                Row.forGood("no credit, in a stream", event("insufficient_quota"), "NoCredit"),
                Row.forGood("context window, in words", refusal(400, "prompt is too long: 9"), "ContextWindowExceeded"),
                Row.forGood("no credit, in words", refusal(400, "Your credit balance is too low"), "NoCredit"),
                Row.forGood("redirect", ModelAnswer.error(307, "").with("Location", "/v1/elsewhere"), "Redirected"),
                Row.forGood(
                        "text that does not end",
                        ModelAnswer.says("words ".repeat(10_000)).endless(),
                        "ReplyTooLarge"),
                Row.forGood("call cut by max_tokens", question().stopping("max_tokens"), "CallCut"),
                Row.forGood("text cut by max_tokens", ModelAnswer.says("Hel").stopping("max_tokens"), "ReplyCut"),
                Row.fine("unknown stop reason", ModelAnswer.says("Hello.").stopping("bored")));
    }

    @ParameterizedTest
    @MethodSource("troubles")
    @Tag("full")
    void turn_withAnOddReplyAtFirst_takesThisManyCalls(Row row) {
        assertCost(row, anthropic, "a");
        assertCost(row, openai, "o");
    }

    @Test
    void turn_withAnAnswerOfOneServiceOnly_takesThisManyCalls() {
        assertCost(Row.forGood("refusal", ModelAnswer.says("No.").stopping("refusal"), "Refused"), anthropic, "a");
        assertCost(
                Row.forGood(
                        "context window",
                        ModelAnswer.says("So").stopping("model_context_window_exceeded"),
                        "ContextWindowExceeded"),
                anthropic,
                "a");
        assertCost(
                Row.fine(
                        "unknown block",
                        ModelAnswer.says("Hello.")
                                .plus(new ModelAnswer.Piece.Strange("{\"type\":\"hologram\",\"data\":\"x\"}"))),
                anthropic,
                "a");
        assertCost(Row.forGood("withheld", ModelAnswer.says("No").stopping("content_filter"), "Refused"), openai, "o");
    }

    private void assertCost(Row row, ModelServer server, String agent) {
        server.answers(row.first(), ModelAnswer.says("Hello."));
        int before = server.received().size();

        RunOutcome outcome = start(agent).getResult(RunOutcome.class);

        assertThat(outcome.error().map(Problem::type)).as(agent).isEqualTo(row.failure());
        assertThat(outcome.status())
                .isEqualTo(row.failure()
                        .map(type -> type.equals(ProblemType.REPLY_CUT) ? "cut" : "failed")
                        .orElse("complete"));
        assertThat(server.received()).as(agent).hasSize(before + row.calls());
        assertThat(server.complaints()).isEmpty();
    }

    @Test
    @Tag("full")
    void lastingFailure_failsTheTurnAfterTenCalls() {
        anthropic.answers(ModelAnswer.error(529, "{}").with("Retry-After-Ms", "20"));

        RunOutcome outcome = start("a").getResult(RunOutcome.class);

        assertThat(outcome.error().map(Problem::type)).contains("Overloaded");
        assertThat(anthropic.received()).hasSize(10);
    }

    /** A person rarely decides in five minutes. */
    @Test
    void cache_ofAnAgentThatAsksPeople_lastsAnHourByDefault() {
        AgentSpec plain = AgentSpec.of("plain", "anthropic:m-1");
        AgentSpec asking = AgentSpec.of("asking", "anthropic:m-1", BuiltInTools.askUser());
        AgentSpec brief =
                asking.with().options(ModelOptions.NONE.withCache("5m")).build();
        anthropic.answers(ModelAnswer.says("Hello."));

        for (AgentSpec agent : List.of(plain, asking, brief)) {
            try (AgentWorker other = worker(agent)) {
                other.start();
                assertThat(start(other, agent.name())
                                .getResult(RunOutcome.class)
                                .text())
                        .isEqualTo("Hello.");
            }
        }

        assertThat(anthropic.received().stream()
                        .map(asked -> asked.body().findValuesAsText("ttl").contains("1h"))
                        .toList())
                .containsExactly(false, true, false);
    }

    @Test
    void unconfiguredService_isNotCalled() {
        AgentSpec agent = AgentSpec.of("k", "keyless:m-1");
        try (AgentWorker keyless = AgentWorker.builder(connection.client())
                .taskQueue("keyless-" + UUID.randomUUID())
                .agents(agent)
                .providers(ModelProviders.of(Map.of("keyless", AnthropicProvider.of(Map.of()))))
                .build()) {
            keyless.start();

            RunOutcome outcome = start(keyless, "k").getResult(RunOutcome.class);

            assertThat(outcome.error().map(Problem::type)).contains("NotConfigured");
        }
    }

    /** The cost of an attempt is recorded, however the attempt ended. */
    @Test
    void attemptThatEndsWithAProviderBug_isCharged() {
        ModelProvider broken = new ModelProvider() {
            @Override
            public Reply reply(ModelRequest request) {
                throw new IllegalStateException("nobody listens");
            }

            @Override
            public Reply reply(ModelRequest request, ReplyListener listener) {
                listener.usage(new Usage(100, 7));
                throw new IllegalStateException("a defect");
            }
        };
        try (AgentWorker other = AgentWorker.builder(connection.client())
                .taskQueue("broken-" + UUID.randomUUID())
                .agents(AgentSpec.of("b", "broken:m-1"))
                .providers(ModelProviders.of(Map.of("broken", broken)))
                .build()) {
            other.start();
            WorkflowStub thread = start(other, "b");

            assertThat(thread.getResult(RunOutcome.class).status()).isEqualTo("failed");
            assertThat(new HistoryReader(connection.client())
                            .read(thread.getExecution().getWorkflowId())
                            .orElseThrow()
                            .now()
                            .usage())
                    .isEqualTo(new Usage(100, 7));
        }
    }

    @Test
    void cutStream_isRequestedAgainAndStoredOnce() {
        anthropic.answers(
                ModelAnswer.says("Hello, ", "wor").cutAfter(1),
                ModelAnswer.says("Hello, ", "world.").using(41, 12));

        WorkflowStub thread = start("a");

        RunOutcome outcome = thread.getResult(RunOutcome.class);
        assertThat(List.of(outcome.status(), outcome.text())).isEqualTo(List.of("complete", "Hello, world."));
        assertThat(anthropic.received()).hasSize(2);
    }

    @Test
    void argumentsThatAreNotJson_failTheirCallOnly() {
        for (ModelServer server : List.of(anthropic, openai)) {
            server.answers(
                    ModelAnswer.says("One thing.").calls("tu_1", "ask_user", "{\"question\": \"Which"),
                    ModelAnswer.says("Never mind."));
        }

        List<RunOutcome> outcomes = Stream.of(start("a"), start("o"))
                .map(thread -> thread.getResult(RunOutcome.class))
                .toList();

        assertThat(outcomes).extracting(RunOutcome::text).containsOnly("Never mind.");
        for (ModelServer server : List.of(anthropic, openai)) {
            assertThat(server.complaints()).isEmpty();
            assertThat(server.received()).hasSize(2);
            assertThat(server.received().get(1).body().path("messages").toString())
                    .contains("Invalid input for tool");
        }
    }

    /** No saver could store such a character, and no service would accept it. */
    @Test
    void halfACharacter_fromAModel_isNotRecorded() {
        anthropic.answers(
                ModelAnswer.says("One thing.").calls("tu_1", "ask_user", "{\"question\":[\"\\ud83d\"]}"),
                ModelAnswer.says("Never mind."));

        RunOutcome outcome = start("a").getResult(RunOutcome.class);

        assertThat(outcome.text()).isEqualTo("Never mind.");
        assertThat(anthropic.received().get(1).body().at("/messages/1/content/1/input/question/0"))
                .isEqualTo(TextNode.valueOf("?"));
    }

    @Test
    void key_echoedByTheService_isNotInHistory() {
        String key = ModelServer.KEY;
        anthropic.answers(
                ModelAnswer.error(429, key).with("Retry-After-Ms", "20"),
                ModelAnswer.error(
                        401, "{\"error\":{\"type\":\"authentication_error\",\"message\":\"wrong: " + key + "\"}}"));

        WorkflowStub thread = start("a");

        assertThat(thread.getResult(RunOutcome.class).status()).isEqualTo("failed");
        WorkflowExecutionHistory history =
                connection.client().fetchHistory(thread.getExecution().getWorkflowId());
        String bytes = history.getEvents().stream()
                .map(event -> new String(event.toByteArray(), StandardCharsets.ISO_8859_1))
                .reduce("", String::concat);
        assertThat(bytes).contains("wrong: [key]").doesNotContain(key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"anthropic", "openai"})
    void summary_isRequestedWithoutToolsAndTheRestIsAccepted(String service) {
        ModelServer server = service.equals("anthropic") ? anthropic : openai;
        server.answers(
                ModelAnswer.says("One, then."), ModelAnswer.says("They counted."), ModelAnswer.says("Two, then."));
        AgentSpec brief = AgentSpec.of("brief", service + ":m-1", BuiltInTools.askUser())
                .with()
                .summaries(new SummaryRule(1, 1))
                .build();
        try (AgentWorker other = worker(brief)) {
            other.start();
            WorkflowStub thread = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(other.taskQueue())
                                    .setWorkflowId("thread-" + UUID.randomUUID())
                                    .build());
            thread.start(StartInput.of("brief").saying(PersonFact.UserSpoke.message("m1", "One")));
            await().atMost(Duration.ofSeconds(60)).until(() -> server.received().size() == 1);
            thread.signal(SignalNames.SAY, Map.of("content", "Two"));
            thread.signal(SignalNames.CLOSE);

            assertThat(thread.getResult(RunOutcome.class).text()).isEqualTo("Two, then.");
        }
        assertThat(server.complaints()).isEmpty();
        List<JsonNode> asked =
                server.received().stream().map(ModelServer.Received::body).toList();
        assertThat(asked).extracting(body -> body.has("tools")).containsExactly(true, false, true);
        assertThat(asked.get(1).toString()).contains("User: One\\n\\nAssistant: One, then.");
        assertThat(asked.get(2).toString()).contains("They counted.").doesNotContain("One, then.");
    }

    @Test
    void options_ofTheAgent_areSentWithEachCall() throws Exception {
        openai.answers(ModelAnswer.says("Hello."));
        AgentSpec careful = AgentSpec.of("careful", "openai:m-1")
                .with()
                .options(ModelOptions.NONE.withEffort("high"))
                .build();
        try (AgentWorker other = worker(careful)) {
            other.start();
            assertThat(start(other, "careful").getResult(RunOutcome.class).text())
                    .isEqualTo("Hello.");
        }
        assertThat(openai.received().get(0).body().path("reasoning_effort").asText())
                .isEqualTo("high");
    }

    /** The service rejects reasoning that it did not issue. The reasoning that it gets back was stored in history. */
    @Test
    void encryptedReasoning_isSentBackInLaterSteps() {
        AgentSpec thoughtful = AgentSpec.of("thoughtful", "openai-responses:m-1")
                .with()
                .tools(BuiltInTools.of("todos"))
                .build();
        try (ModelServer responses = new ResponsesServer();
                AgentWorker other = AgentWorker.builder(connection.client())
                        .taskQueue("models-" + UUID.randomUUID())
                        .agents(thoughtful)
                        .providers(ModelProviders.from(responses.environment()))
                        .build()) {
            other.start();
            responses.answers(
                    ModelAnswer.says()
                            .plus(new ModelAnswer.Piece.Thought("", "Z0FBQUFB"))
                            .calls("call_1", "write_todos", "{\"todos\":[]}"),
                    ModelAnswer.says("Done."));

            assertThat(start(other, "thoughtful").getResult(RunOutcome.class).text())
                    .isEqualTo("Done.");
            assertThat(responses.complaints()).isEmpty();
            assertThat(responses.received().get(1).body().path("input").findValuesAsText("encrypted_content"))
                    .containsExactly("Z0FBQUFB");
        }
    }

    private WorkflowStub start(String agent) {
        return start(worker, agent);
    }

    private static WorkflowStub start(AgentWorker worker, String agent) {
        return OneTurn.start(connection, worker.taskQueue(), agent);
    }
}
