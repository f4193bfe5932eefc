package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer.Received;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Threads whose models fail in the middle of a tool loop and come back, over both vendors. No request is refused, no
 * thinking is dropped, and each request to a model extends the one before.
 */
class FallbackChainsTest {
    private final AnthropicServer anthropic = new AnthropicServer();
    private final ResponsesServer responses = new ResponsesServer();
    private final OpenAiServer chat = new OpenAiServer();
    private final Set<String> down = ConcurrentHashMap.newKeySet();
    private final List<JsonNode> answered = new CopyOnWriteArrayList<>();
    private final AtomicInteger replies = new AtomicInteger();
    private volatile int looks;

    @BeforeEach
    void start() {
        List.of(anthropic, responses, chat).forEach(server -> server.answers(this::answer));
    }

    @AfterEach
    void stop() {
        List.of(anthropic, responses, chat).forEach(server -> server.close());
    }

    private synchronized ModelAnswer answer(Received request) {
        String model = model(request.body());
        if (down.contains(model)) {
            return ModelAnswer.error(
                    model.startsWith("claude") ? 529 : 503,
                    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}");
        }
        answered.add(request.body());
        int number = replies.incrementAndGet();
        ModelAnswer.Speech speech = ModelAnswer.says().plus(new Piece.Thought("Hm " + number, "sig" + number));
        if (looks > 0) {
            looks--;
            return speech.calls("tu_" + number, "ls", "{}").using(50, 10);
        }
        return speech.plus(new Piece.Words("{\"n\": " + number + "}")).using(50, 10);
    }

    private static String model(JsonNode body) {
        return body.path("model").asText();
    }

    /** Asks the service of the model. */
    private ModelProvider services() {
        ModelProvider claude = AnthropicProvider.of(anthropic.environment());
        ModelProvider gpt = ResponsesProvider.of(responses.environment());
        ModelProvider older = OpenAiProvider.of(chat.environment());
        return new ModelProvider() {
            @Override
            public Reply reply(ModelRequest request) throws ModelFailure, InterruptedException {
                String model = request.model();
                return (model.startsWith("claude") ? claude : model.startsWith("gpt-4") ? older : gpt).reply(request);
            }
        };
    }

    /** Between the three APIs, and over a model that is down, too. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "claude-opus-5-5 gpt-6.1-sol",
                "gpt-5.4 claude-sonnet-5-5",
                "claude-sonnet-5-5 gpt-4.1",
                "gpt-6.1-sol gpt-5.6-luna claude-fable-5-2"
            })
    void chain_losesNothingAndIsExtended(String models) {
        assertThatNothingIsLost(models);
    }

    @ParameterizedTest
    @Tag("full")
    @ValueSource(
            strings = {
                "gpt-6.1-sol claude-opus-5-5",
                "claude-fable-5-2 gpt-5.4",
                "claude-opus-5-5 claude-haiku-5-5 gpt-6.1-terra",
                "gpt-4.1 claude-opus-5-5"
            })
    void otherChain_losesNothingAndIsExtended(String models) {
        assertThatNothingIsLost(models);
    }

    private void assertThatNothingIsLost(String models) {
        List<String> chain = Arrays.asList(models.split(" "));
        String last = chain.get(chain.size() - 1);
        try (WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), services())
                .with(agent -> new AgentSpec.Builder("a", "fake:" + chain.get(0))
                        .tools(agent.build().tools())
                        .instructions("You are careful.")
                        .fallback(chain.stream()
                                .skip(1)
                                .map(model -> FallbackModel.of("fake:" + model))
                                .toList()))) {
            looks = 2;
            String thread = BoundThreads.begin(rig, "Look around.");
            down.addAll(chain.subList(0, chain.size() - 1));
            looks = 2;
            complete(BoundThreads.say(rig, thread, 2));
            down.clear();
            rig.replaceWorker(); // The new worker remembers no outage.
            looks = 1;
            complete(BoundThreads.say(rig, thread, 3, Map.of("schema", BoundThreads.NUMBER.value())));
            complete(BoundThreads.say(rig, thread, 4));

            assertThat(answered.stream().map(FallbackChainsTest::model))
                    .containsExactly(
                            chain.get(0),
                            chain.get(0),
                            chain.get(0),
                            last,
                            last,
                            last,
                            chain.get(0),
                            chain.get(0),
                            chain.get(0));
            assertThat(rig.timeline(thread).now().turn().text()).isEqualTo("{\"n\": 9}");
            for (String model : Set.of(chain.get(0), last)) {
                assertThat(GrowingRequests.breaks(answered.stream()
                                .filter(body -> model(body).equals(model))
                                .toList()))
                        .isEmpty();
            }
            assertThat(anthropic.complaints()).isEmpty();
            assertThat(anthropic.dropped()).isEmpty();
            assertThat(responses.complaints()).isEmpty();
            assertThat(chat.complaints()).isEmpty();
        }
    }

    private static void complete(Conversation state) {
        assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
    }
}
