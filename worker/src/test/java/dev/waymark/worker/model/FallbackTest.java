package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Pricing;
import dev.waymark.client.span.ThreadSpans;
import dev.waymark.client.trace.Span;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.history.HistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.workflow.TestServers;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Turns of an agent whose model is out of service. Uses real HTTP. */
@Timeout(180)
@Tag("full")
class FallbackTest {
    private static final String BUSY = "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy.\"}}";
    private static final String OTHER = "openai:m-2";

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private ModelServer anthropic;
    private ModelServer openai;
    private AgentWorker worker;

    @BeforeEach
    void begin() {
        TestServers.inMemory();
        anthropic = new AnthropicServer();
        openai = new OpenAiServer();
        worker = worker(AnthropicProvider.of(anthropic.environment()));
    }

    private AgentWorker worker(ModelProvider first) {
        return worker(first, UnaryOperator.identity());
    }

    private AgentWorker worker(ModelProvider first, UnaryOperator<AgentSpec.Builder> change) {
        AgentSpec.Builder careful = AgentSpec.of("careful", "anthropic:m-1")
                .with()
                .tools(BuiltInTools.of("todos"))
                .options(ModelOptions.NONE.withThinkingBudget(2_000))
                .pricing(Pricing.of("10", "20"))
                .fallback(List.of(FallbackModel.of(OTHER)
                        .with(ModelOptions.NONE.withEffort("low"))
                        .with(Pricing.of("1", "2"))));
        AgentWorker built = AgentWorker.builder(TestServers.inMemory().client())
                .taskQueue("fallback-" + UUID.randomUUID())
                .agents(change.apply(careful).build())
                .providers(ModelProviders.of(
                        Map.of(AnthropicProvider.NAME, first, "openai", OpenAiProvider.of(openai.environment()))))
                .metrics(metrics)
                .build();
        built.start();
        return built;
    }

    @AfterEach
    void end() {
        if (worker == null) { // It is null if the server is missing and the tests are skipped.
            return;
        }
        worker.close();
        anthropic.close();
        openai.close();
        assertThat(anthropic.complaints()).isEmpty();
        assertThat(openai.complaints()).isEmpty();
    }

    @Test
    void outage_nextModelAnswersAndIsRecordedAndCharged() {
        anthropic.answers(ModelAnswer.error(529, BUSY));
        openai.answers(ModelAnswer.says("Hello.").using(1_000, 100));

        String thread = start(worker);

        assertThat(outcome(thread).text()).isEqualTo("Hello.");
        assertThat(asked()).containsExactly(2, 1);
        Reply reply = replies(thread).get(0);
        assertThat(reply.model()).contains(OTHER);
        assertThat(reply.cost()).contains(usd("0.0012"));
        assertThat(openai.received().get(0).body().path("model").asText()).isEqualTo("m-2");
        assertThat(openai.received().get(0).body().path("reasoning_effort").asText())
                .isEqualTo("low");
        assertThat(metrics.get("waymark.model.calls")
                        .tag("model", OTHER)
                        .counter()
                        .count())
                .isEqualTo(1);
        Span call = ThreadSpans.of(timeline(thread), TraceIds.of("run", Optional.empty()), false).stream()
                .filter(span -> span.attributes().containsKey("gen_ai.request.model"))
                .findFirst()
                .orElseThrow();
        assertThat(call.attributes())
                .containsEntry("gen_ai.request.model", "m-1")
                .containsEntry("gen_ai.response.model", "m-2")
                .containsEntry("gen_ai.provider.name", "openai");
    }

    @Test
    void refusal_endsTheTurnWithTheServicesMessage() {
        anthropic.answers(ModelAnswer.says("I").stopping("refusal"));

        Problem problem = outcome(start(worker)).error().orElseThrow();

        assertThat(problem)
                .isEqualTo(new Problem(
                        "Refused", "anthropic:m-1: anthropic refuses to answer (cyber): It could enable harm."));
        assertThat(asked()).containsExactly(1, 0);
    }

    @Test
    void refusal_passedOn_sendsTheSameRequestToTheNextModel() {
        worker.close();
        worker = worker(AnthropicProvider.of(anthropic.environment()), AgentSpec.Builder::fallbackOnRefusal);
        anthropic.answers(ModelAnswer.says("I").using(7, 1).stopping("refusal"));
        openai.answers(ModelAnswer.says("Hello.").using(1_000, 100));

        String thread = start(worker);

        assertThat(outcome(thread).text()).isEqualTo("Hello.");
        assertThat(asked()).containsExactly(1, 1);
        Reply reply = replies(thread).get(0);
        assertThat(reply.model()).contains(OTHER);
        assertThat(reply.wasted().orElseThrow().usage().inputTokens()).isEqualTo(7);
        assertThat(timeline(thread).now().dialogue().refused()).isFalse();
    }

    @Test
    void refusal_ofAllModels_endsTheTurn() {
        worker.close();
        worker = worker(AnthropicProvider.of(anthropic.environment()), AgentSpec.Builder::fallbackOnRefusal);
        anthropic.answers(ModelAnswer.says("I").stopping("refusal"));
        openai.answers(ModelAnswer.says("").stopping("content_filter"));

        Problem problem = outcome(start(worker)).error().orElseThrow();

        assertThat(problem).isEqualTo(new Problem("Refused", OTHER + ": openai withheld the reply"));
        assertThat(asked()).containsExactly(1, 1);
    }

    @Test
    void outage_isRememberedForTheNextStepsAndThreads() {
        anthropic.answers(ModelAnswer.error(500, BUSY));
        openai.answers(todo("tu_1"), ModelAnswer.says("Done."));

        String first = start(worker);
        assertThat(outcome(first).text()).isEqualTo("Done.");
        assertThat(outcome(start(worker)).text()).isEqualTo("Done.");

        assertThat(asked()).containsExactly(2, 3);
        assertThat(timeline(first).fallbacks()).isEqualTo(Map.of(OTHER, 2));
    }

    @Test
    void temporaryFailure_isRetriedWithTheSameModel() {
        anthropic.answers(ModelAnswer.error(529, BUSY), ModelAnswer.says("Hello."));

        String thread = start(worker);

        assertThat(outcome(thread).text()).isEqualTo("Hello.");
        assertThat(asked()).containsExactly(2, 0);
        assertThat(replies(thread).get(0).model()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "400, invalid_request_error,   BadRequest",
        "400, context_length_exceeded, ContextWindowExceeded",
        "401, authentication_error,    Unauthorized",
        "402, billing_error,           NoCredit",
        "404, not_found_error,         ModelNotFound",
    })
    void failure_otherThanAnOutage_callsNoOtherModel(int status, String name, String type) {
        anthropic.answers(ModelAnswer.error(status, "{\"error\":{\"type\":\"" + name + "\",\"message\":\"No.\"}}"));

        Problem problem = outcome(start(worker)).error().orElseThrow();

        assertThat(problem.type()).isEqualTo(type);
        assertThat(problem.message()).startsWith("anthropic:m-1: ");
        assertThat(asked()).containsExactly(1, 0);
    }

    @Test
    void serviceRequestingALongWait_isReplacedAtOnce() {
        anthropic.answers(ModelAnswer.error(429, BUSY).with("Retry-After", "300"));
        openai.answers(ModelAnswer.says("Hello."));

        assertThat(outcome(start(worker)).text()).isEqualTo("Hello.");
        assertThat(asked()).containsExactly(1, 1);
    }

    @Test
    void unreachableService_isReplaced() {
        openai.answers(ModelAnswer.says("Hello."));
        AgentWorker cutOff = worker(AnthropicProvider.of(Map.of("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")));
        try (cutOff) {
            assertThat(outcome(start(cutOff)).text()).isEqualTo("Hello.");
        }
        assertThat(asked()).containsExactly(0, 1);
    }

    @Test
    void cutStream_isChargedAtThePriceOfItsModel() {
        anthropic.answers(ModelAnswer.says("Hel", "lo.").using(1_000, 5).cutAfter(1));
        openai.answers(ModelAnswer.says("Hi.").using(1_000, 100));

        String thread = start(worker);

        assertThat(outcome(thread).text()).isEqualTo("Hi.");
        Reply reply = replies(thread).get(0);
        assertThat(reply.wasted().orElseThrow().usage()).isEqualTo(new Usage(2_000, 2));
        assertThat(reply.wasted().orElseThrow().cost()).contains(usd("0.02004"));
        assertThat(reply.cost()).contains(usd("0.0012"));
        assertThat(counted("waymark.model.tokens", "model", "anthropic:m-1", "type", "input"))
                .isEqualTo(2_000);
        assertThat(counted("waymark.model.tokens", "model", OTHER, "type", "input"))
                .isEqualTo(1_000);
        assertThat(counted("waymark.model.cost.usd", "model", "anthropic:m-1")).isEqualTo(0.02004);
        assertThat(counted("waymark.model.cost.usd", "model", OTHER)).isEqualTo(0.0012);
        assertThat(counted("waymark.model.failed.attempts", "model", "anthropic:m-1", "type", "StreamCut"))
                .isEqualTo(2);
    }

    private double counted(String name, String... tags) {
        return metrics.get(name).tags(tags).counter().count();
    }

    @Test
    void refusingFallback_leavesTheCallToTheFirstModel() {
        anthropic.answers(ModelAnswer.error(500, BUSY), ModelAnswer.error(500, BUSY), ModelAnswer.says("At last."));
        openai.answers(ModelAnswer.error(401, BUSY));

        String thread = start(worker);

        assertThat(outcome(thread).text()).isEqualTo("At last.");
        assertThat(asked()).containsExactly(3, 1);
        assertThat(replies(thread).get(0).model()).isEmpty();
    }

    @Test
    void outageOfAllModels_failsAfterTenCalls() {
        anthropic.answers(ModelAnswer.error(503, BUSY).with("Retry-After-Ms", "20"));
        openai.answers(ModelAnswer.error(503, BUSY).with("Retry-After-Ms", "20"));

        Problem problem = outcome(start(worker)).error().orElseThrow();

        assertThat(problem.type()).isEqualTo("Overloaded");
        assertThat(problem.message()).matches("(anthropic:m-1|openai:m-2): .*answered 503.*");
        assertThat(asked()).containsExactly(5, 5);
    }

    /**
     * Each server rejects reasoning that it did not issue. Anthropic's also rejects thinking after calls of another
     * model.
     */
    @Test
    void reasoningOfOneModel_isKeptAndNotSentToTheOther() {
        Piece.Thought thought = new Piece.Thought("Hm.", "c2lnbmVk");
        ModelAnswer.Speech first = ModelAnswer.says().plus(thought).calls("tu_1", "write_todos", todos());
        anthropic.answers(first, ModelAnswer.error(529, BUSY));
        openai.answers(todo("tu_2"), ModelAnswer.says("Done."));

        String thread = start(worker);

        assertThat(outcome(thread).text()).isEqualTo("Done.");
        assertThat(asked()).containsExactly(3, 2);
        assertThat(openai.received().get(0).body().toString()).doesNotContain("Hm.", "c2lnbmVk");
        assertThat(replies(thread))
                .extracting(reply -> reply.model().orElse("own"))
                .containsExactly("own", OTHER, OTHER);
        assertThat(timeline(thread)
                        .now()
                        .transcript()
                        .messages()
                        .get(1)
                        .content()
                        .get(0))
                .isInstanceOf(Part.Reasoning.class);
    }

    private static ModelAnswer.Speech todo(String id) {
        return ModelAnswer.says().calls(id, "write_todos", todos());
    }

    private static String todos() {
        return "{\"todos\":[{\"id\":\"1\",\"content\":\"Think\",\"status\":\"pending\"}]}";
    }

    private List<Integer> asked() {
        return List.of(anthropic.received().size(), openai.received().size());
    }

    private static Usd usd(String dollars) {
        return Usd.of(new BigDecimal(dollars));
    }

    private Timeline timeline(String thread) {
        return new HistoryReader(TestServers.inMemory().client()).read(thread).orElseThrow();
    }

    private List<Reply> replies(String thread) {
        return timeline(thread).moments().stream()
                .flatMap(moment -> moment.fact().stream())
                .filter(ModelFact.ModelReplied.class::isInstance)
                .map(fact -> ((ModelFact.ModelReplied) fact).reply())
                .toList();
    }

    private String start(AgentWorker to) {
        return OneTurn.start(TestServers.inMemory(), to.taskQueue(), "careful")
                .getExecution()
                .getWorkflowId();
    }

    private RunOutcome outcome(String thread) {
        return TestServers.inMemory().client().newUntypedWorkflowStub(thread).getResult(RunOutcome.class);
    }
}
