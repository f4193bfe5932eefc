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
import dev.waymark.testkit.model.AnthropicServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.testkit.model.ModelServer.Received;
import dev.waymark.tool.Tool;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Threads of a model of today, which binds its thinking to everything before it. */
abstract class BoundThreads {
    static final String MODEL = "claude-opus-5-5";
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
    AnthropicServer server;

    AnthropicServer newServer() {
        return new AnthropicServer();
    }

    @BeforeEach
    void start() {
        server = newServer();
        server.answers(this::answer);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    /** Answers with the staged answers, and then with thoughtful replies. Summaries are not thought about. */
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
        return body.path("system").path(0).path("text").asText().equals(Summary.INSTRUCTIONS);
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

    /** On models of today, the text of thinking is empty unless the request asks for it. */
    Piece.Thought thought() {
        int number = thoughts.incrementAndGet();
        return new Piece.Thought(number % 2 == 0 ? "" : "Hm " + number, "sig" + number);
    }

    void stage(ModelAnswer... answers) {
        next.addAll(List.of(answers));
    }

    WorkflowRig rig(UnaryOperator<AgentSpec.Builder> change, Tool... tools) {
        return new WorkflowRig(TestServers.inMemory(), AnthropicProvider.of(server.environment()), tools)
                .with(agent -> change.apply(ofToday(agent.build())));
    }

    WorkflowRig rig() {
        return rig(UnaryOperator.identity());
    }

    private static AgentSpec.Builder ofToday(AgentSpec spec) {
        return new AgentSpec.Builder(spec.name(), "fake:" + MODEL)
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
        assertThat(server.dropped()).isEmpty();
    }

    List<String> breaks() {
        return GrowingRequests.breaks(answered.stream()
                .filter(body -> body.path("model").asText().equals(MODEL))
                .toList());
    }
}
