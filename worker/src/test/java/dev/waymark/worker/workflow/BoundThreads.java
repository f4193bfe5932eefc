package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.ModelServer.Received;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.tool.Tool;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Threads of a current model, each of whose requests extends the one before. */
abstract class BoundThreads<S extends ModelServer> {
    static final int STEPS = 40;

    /** A schema of replies: an object with the number {@code n}. */
    static final Json NUMBER = Json.of(Map.of(
            "type",
            "object",
            "required",
            List.of("n"),
            "additionalProperties",
            false,
            "properties",
            Map.of("n", Map.of("type", "integer"))));

    private final Deque<ModelAnswer> next = new ArrayDeque<>();
    final List<JsonNode> answered = new CopyOnWriteArrayList<>();
    private final AtomicInteger thoughts = new AtomicInteger();
    final Service<S> service;
    S server;

    /**
     * A service that refuses or ignores reasoning that it cannot verify.
     *
     * @param other a model that takes over
     * @param lost what the service left out of requests without an error
     */
    record Service<S extends ModelServer>(
            String model,
            String other,
            Supplier<S> start,
            Function<Map<String, String>, ModelProvider> provider,
            Function<S, List<String>> lost) {
        /** Binds a model's thinking to everything before it. */
        static Service<AnthropicServer> anthropic(Supplier<AnthropicServer> start) {
            return new Service<>(
                    "claude-opus-5-5", "claude-fable-5-2", start, AnthropicProvider::of, AnthropicServer::dropped);
        }

        /** Binds a model's reasoning to the model. */
        static Service<ResponsesServer> openAi() {
            return new Service<>(
                    "gpt-6.1-sol", "gpt-5.6-sol", ResponsesServer::new, ResponsesProvider::of, server -> List.of());
        }
    }

    BoundThreads(Service<S> service) {
        this.service = service;
    }

    @BeforeEach
    void start() {
        server = service.start().get();
        server.answers(this::answer);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    /** Answers with the staged answers, and then with replies that contain thinking. Summaries have no thinking. */
    ModelAnswer answer(Received request) {
        if (isSummary(request.body())) {
            return ModelAnswer.says("They talked.").using(50, 10);
        }
        ModelAnswer answer = next.isEmpty() ? thoughtful("Fine.") : next.remove();
        if (!(answer instanceof ModelAnswer.Error)) {
            answered.add(request.body());
        }
        return answer;
    }

    static boolean isSummary(JsonNode body) {
        return body.at("/system/0/text").asText().equals(Summary.INSTRUCTIONS)
                || body.path("instructions").asText().equals(Summary.INSTRUCTIONS);
    }

    ModelAnswer.Speech thoughtful(String words) {
        return thinking().plus(new Piece.Words(words)).using(50, 10);
    }

    ModelAnswer.Speech looking() {
        return thinking().calls("tu_" + thoughts.get(), "ls", "{}").using(50, 10);
    }

    ModelAnswer.Speech thinking() {
        return ModelAnswer.says().plus(thought());
    }

    /** With current models, the text of thinking is empty unless the request asks for it. */
    Piece.Thought thought() {
        int number = thoughts.incrementAndGet();
        return new Piece.Thought(number % 2 == 0 ? "" : "Hm " + number, "sig" + number);
    }

    void stage(ModelAnswer... answers) {
        next.addAll(List.of(answers));
    }

    WorkflowRig rig(UnaryOperator<AgentSpec.Builder> change, Tool... tools) {
        return new WorkflowRig(TestServers.inMemory(), service.provider().apply(server.environment()), tools)
                .with(agent -> change.apply(ofToday(agent.build())));
    }

    WorkflowRig rig() {
        return rig(UnaryOperator.identity());
    }

    private AgentSpec.Builder ofToday(AgentSpec spec) {
        return new AgentSpec.Builder(spec.name(), "fake:" + service.model())
                .tools(spec.tools())
                .instructions("You are " + spec.name() + ".")
                .maxIterations(2 * STEPS);
    }

    static String begin(WorkflowRig rig, String words) {
        String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", words)));
        rig.awaitTurn(thread, 1);
        return thread;
    }

    static Conversation say(WorkflowRig rig, String thread, int turn, Map<String, Object> more) {
        Map<String, Object> message = new LinkedHashMap<>(more);
        message.put("id", "m-" + turn);
        if (!more.containsKey("messages")) {
            message.put("content", "And number " + turn + "?");
        }
        rig.update(thread, SignalNames.SAY, message);
        return rig.awaitTurn(thread, turn);
    }

    static Conversation say(WorkflowRig rig, String thread, int turn) {
        return say(rig, thread, turn, Map.of());
    }

    static StartInput carrying(String agent, Conversation begin, Optional<AgentSpec> known) {
        return StartInput.of(agent).carrying(new CarriedState(begin, known).pack());
    }

    void assertNothingLost() {
        assertThat(server.complaints()).isEmpty();
        assertThat(service.lost().apply(server)).isEmpty();
    }

    List<String> breaks() {
        return GrowingRequests.breaks(answered.stream()
                .filter(body -> body.path("model").asText().equals(service.model()))
                .toList());
    }
}
