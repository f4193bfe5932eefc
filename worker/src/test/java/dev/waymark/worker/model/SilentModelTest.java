package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.connect.Connection;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Problem;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.history.HistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.testkit.model.SilentServer;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.workflow.TestServers;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Turns of an agent whose model accepts requests, but sends nothing of its reply, or only its beginning. */
@Tag("full")
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class SilentModelTest {
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final String OTHER = "other:m-2";

    private static final String ANTHROPIC_START = "event: message_start\n"
            + "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n";
    private static final String ANTHROPIC_WORDS = ANTHROPIC_START
            + "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
            + "data: {\"type\":\"content_block_delta\",\"index\":0,"
            + "\"delta\":{\"type\":\"text_delta\",\"text\":\"Hel\"}}\n\n";
    private static final String ANTHROPIC_ARGUMENTS = ANTHROPIC_START
            + "data: {\"type\":\"content_block_start\",\"index\":0,"
            + "\"content_block\":{\"type\":\"tool_use\",\"id\":\"tu_1\",\"name\":\"weather\",\"input\":{}}}\n\n"
            + "data: {\"type\":\"content_block_delta\",\"index\":0,"
            + "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"ci\"}}\n\n";
    private static final String PING = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    private static final String COMMENT = ": keep-alive\n\n";

    private static final String CHAT_WORDS =
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}\n\n";
    private static final String EMPTY_CHUNK = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n";

    private static final String RESPONSE_START =
            "data: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n";
    private static final String IN_PROGRESS = "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n";

    private final Connection connection = TestServers.inMemory();
    private ModelServer other;

    @BeforeEach
    void begin() {
        other = new OpenAiServer();
        other.answers(ModelAnswer.says("Hello."));
    }

    @AfterEach
    void end() {
        other.close();
        assertThat(other.complaints()).isEmpty();
    }

    private AgentWorker worker(ModelProvider first, FallbackModel... fallbacks) {
        return worker(first, SHORT, fallbacks);
    }

    private AgentWorker worker(ModelProvider first, Duration silence, FallbackModel... fallbacks) {
        AgentSpec patient = AgentSpec.of("patient", "first:m-1")
                .with()
                .silence(silence)
                .fallback(List.of(fallbacks))
                .build();
        AgentWorker built = AgentWorker.builder(connection.client())
                .taskQueue("silence-" + UUID.randomUUID())
                .agents(patient)
                .providers(ModelProviders.of(Map.of("first", first, "other", OpenAiProvider.of(other.environment()))))
                .build();
        built.start();
        return built;
    }

    enum Wire {
        ANTHROPIC(address -> AnthropicProvider.of(Map.of("ANTHROPIC_BASE_URL", address))),
        CHAT(address -> OpenAiProvider.of(Map.of("OPENAI_BASE_URL", address + "/v1"))),
        RESPONSES(address -> ResponsesProvider.of(Map.of("OPENAI_BASE_URL", address + "/v1")));

        private final Function<String, ModelProvider> provider;

        Wire(Function<String, ModelProvider> provider) {
            this.provider = provider;
        }
    }

    enum Silence {
        NOTHING("", ""),
        HEADERS("", ""),
        COMMENTS("", COMMENT),
        PINGS("", PING),
        START_AND_PINGS(ANTHROPIC_START, PING),
        WORDS_AND_PINGS(ANTHROPIC_WORDS, PING),
        ARGUMENTS_AND_PINGS(ANTHROPIC_ARGUMENTS, PING),
        EMPTY_CHUNKS("", EMPTY_CHUNK),
        WORDS_AND_EMPTY_CHUNKS(CHAT_WORDS, EMPTY_CHUNK),
        START_AND_PROGRESS(RESPONSE_START, IN_PROGRESS);

        private final String first;
        private final String keepAlive;

        Silence(String first, String keepAlive) {
            this.first = first;
            this.keepAlive = keepAlive;
        }

        SilentServer server() {
            return this == NOTHING ? SilentServer.mute() : SilentServer.streaming(first, keepAlive);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ANTHROPIC, NOTHING",
        "ANTHROPIC, HEADERS",
        "ANTHROPIC, PINGS",
        "ANTHROPIC, START_AND_PINGS",
        "ANTHROPIC, WORDS_AND_PINGS",
        "ANTHROPIC, ARGUMENTS_AND_PINGS",
        "CHAT, NOTHING",
        "CHAT, COMMENTS",
        "CHAT, EMPTY_CHUNKS",
        "CHAT, WORDS_AND_EMPTY_CHUNKS",
        "RESPONSES, NOTHING",
        "RESPONSES, COMMENTS",
        "RESPONSES, START_AND_PROGRESS",
    })
    void silentModel_isReplacedAtOnceAndItsConnectionClosed(Wire wire, Silence silence) throws Exception {
        try (SilentServer silent = silence.server();
                AgentWorker worker = worker(wire.provider.apply(silent.address()), FallbackModel.of(OTHER))) {
            WorkflowStub thread = start(worker);

            assertThat(thread.getResult(RunOutcome.class).text()).isEqualTo("Hello.");
            silent.awaitDisconnects(1);
            assertThat(silent.requests()).isEqualTo(1);
            assertThat(replies(thread).get(0).model()).contains(OTHER);
        }
    }

    @Test
    void silentModel_withoutAFallback_isRetried() throws Exception {
        ModelServer anthropic = new AnthropicServer();
        try (anthropic;
                AgentWorker worker = worker(AnthropicProvider.of(anthropic.environment()))) {
            anthropic.answers(ModelAnswer.says("Hel", "lo.").using(10, 5).silentAfter(1), ModelAnswer.says("Hi."));

            WorkflowStub thread = start(worker);

            assertThat(thread.getResult(RunOutcome.class).text()).isEqualTo("Hi.");
            assertThat(anthropic.received()).hasSize(2);
            Reply reply = replies(thread).get(0);
            assertThat(reply.model()).isEmpty();
            assertThat(reply.wasted().orElseThrow().usage().inputTokens()).isEqualTo(10);
        }
    }

    /** Each piece arrives within the limit, but the whole reply takes longer than the limit. */
    @ParameterizedTest
    @CsvSource({"THOUGHTS", "CALLS", "WORDS"})
    void slowModel_sendingPieces_isWaitedFor(String kind) throws Exception {
        ModelAnswer.Speech slow = ModelAnswer.says();
        for (int piece = 0; piece < 20; piece++) {
            slow = switch (kind) {
                case "THOUGHTS" -> slow.plus(new Piece.Thought("Hm.", "c2lnbmVk"));
                case "CALLS" -> slow.calls("tu_" + piece, "unknown", "{}");
                default -> slow.plus(new Piece.Words("Hm. "));
            };
        }
        ModelServer anthropic = new AnthropicServer();
        try (anthropic;
                AgentWorker worker = worker(
                        AnthropicProvider.of(anthropic.environment()),
                        Duration.ofSeconds(2),
                        FallbackModel.of(OTHER))) {
            anthropic.answers(slow.every(Duration.ofMillis(200)), ModelAnswer.says("Done."));

            WorkflowStub thread = start(worker);

            thread.getResult(RunOutcome.class);
            assertThat(replies(thread).get(0).model()).isEmpty();
            assertThat(replies(thread).get(0).content()).hasSizeGreaterThanOrEqualTo(kind.equals("WORDS") ? 1 : 20);
            assertThat(other.received()).isEmpty();
        }
    }

    /** The limit is enforced outside the providers, so it also applies to providers of other projects. */
    @Test
    void silentProviderOfAnotherProject_isInterruptedToo() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        ModelProvider mute = new ModelProvider() {
            @Override
            public Reply reply(ModelRequest request) throws InterruptedException {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                    throw e;
                }
                return Reply.of(new Part.Text("never"));
            }
        };
        try (AgentWorker worker = worker(mute, FallbackModel.of(OTHER))) {
            assertThat(start(worker).getResult(RunOutcome.class).text()).isEqualTo("Hello.");
            interrupted.await();
        }
    }

    @Test
    void silence_isRememberedForTheNextThreadAndReported() throws Exception {
        try (SilentServer silent = SilentServer.mute();
                AgentWorker worker = worker(Wire.ANTHROPIC.provider.apply(silent.address()), FallbackModel.of(OTHER))) {
            assertThat(start(worker).getResult(RunOutcome.class).text()).isEqualTo("Hello.");
            assertThat(start(worker).getResult(RunOutcome.class).text()).isEqualTo("Hello.");
            assertThat(silent.requests()).isEqualTo(1);

            other.answers(ModelAnswer.error(400, "{\"error\":{\"type\":\"x\",\"message\":\"No.\"}}"));
            WorkflowStub thread = start(worker);
            Problem problem = thread.getResult(RunOutcome.class).error().orElseThrow();

            assertThat(problem.type()).isEqualTo("ModelSilent");
            assertThat(problem.message())
                    .isEqualTo("first:m-1: the model sent nothing of its reply for 1 s. For a model that needs longer,"
                            + " raise `silence` of the agent");
            silent.awaitDisconnects(silent.requests());
        }
    }

    private WorkflowStub start(AgentWorker worker) {
        return OneTurn.start(connection, worker.taskQueue(), "patient");
    }

    private List<Reply> replies(WorkflowStub thread) {
        return new HistoryReader(connection.client())
                .read(thread.getExecution().getWorkflowId()).orElseThrow().moments().stream()
                        .flatMap(moment -> moment.fact().stream())
                        .filter(ModelFact.ModelReplied.class::isInstance)
                        .map(fact -> ((ModelFact.ModelReplied) fact).reply())
                        .toList();
    }
}
