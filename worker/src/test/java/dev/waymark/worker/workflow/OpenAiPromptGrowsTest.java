package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.openai.ResponsesProvider;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The requests of a thread to OpenAI's models extend each other, too, so that they are read from the cache. */
class OpenAiPromptGrowsTest {
    enum Api {
        CHAT(OpenAiServer::new, OpenAiProvider::of),
        RESPONSES(ResponsesServer::new, ResponsesProvider::of);

        private final Supplier<ModelServer> server;
        private final Function<Map<String, String>, ModelProvider> provider;

        Api(Supplier<ModelServer> server, Function<Map<String, String>, ModelProvider> provider) {
            this.server = server;
            this.provider = provider;
        }
    }

    private static ModelAnswer thinking(int n, Piece... more) {
        ModelAnswer.Speech speech = ModelAnswer.says().plus(new Piece.Thought("Hm " + n, "sig" + n));
        for (Piece piece : more) {
            speech = speech.plus(piece);
        }
        return speech.using(50, 10);
    }

    @ParameterizedTest
    @EnumSource(Api.class)
    void callsSchemasAndRefusals_extendTheRequests(Api api) {
        try (ModelServer server = api.server.get();
                WorkflowRig rig = new WorkflowRig(TestServers.inMemory(), api.provider.apply(server.environment()))) {
            List<ModelAnswer> answers = List.of(
                    thinking(1, new Piece.Call("tu_1", "ls", "{\"path\": \"/\",  \"n\": 1.50}")),
                    thinking(
                            2,
                            new Piece.Words(" \n"),
                            new Piece.Call("tu_2", "ls", "{}"),
                            new Piece.Call("tu_3", "ls", "{}")),
                    thinking(3, new Piece.Words("Hello.")),
                    thinking(4, new Piece.Words("Four.")),
                    thinking(5, new Piece.Words("{\"n\": 4}")),
                    ModelAnswer.error(
                            400, "{\"error\":{\"message\":\"No credit.\",\"type\":\"invalid_request_error\"}}"),
                    thinking(6, new Piece.Words("Six.")),
                    thinking(7, new Piece.Call("tu_1", "ls", "{}")),
                    thinking(8, new Piece.Words("{\"n\": 7}")));
            Deque<ModelAnswer> next = new ArrayDeque<>(answers);
            List<JsonNode> answered = new CopyOnWriteArrayList<>();
            server.answers(request -> {
                ModelAnswer answer = next.remove();
                if (!(answer instanceof ModelAnswer.Error)) {
                    answered.add(request.body());
                }
                return answer;
            });
            String thread = BoundThreads.begin(rig, "Look around.");
            BoundThreads.say(rig, thread, 2, Map.of("schema", BoundThreads.NUMBER.value()));
            BoundThreads.say(rig, thread, 3);
            BoundThreads.say(rig, thread, 4);
            BoundThreads.say(rig, thread, 5, Map.of("schema", BoundThreads.NUMBER.value()));

            assertThat(next).isEmpty();
            assertThat(GrowingRequests.breaks(answered)).isEmpty();
            assertThat(server.complaints()).isEmpty();
        }
    }
}
