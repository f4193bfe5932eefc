package dev.waymark.bench.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The models behind the wires, served over real HTTP by a process that is not killed. A model's name is {@code
 * TOOL-NUMBER}: it makes this number of calls of the tool in one reply, and then ends the turn. The servers reject what
 * the real services would reject. Thread-safe.
 */
final class ChaosModels implements AutoCloseable {
    private final ModelServer anthropic = new AnthropicServer();
    private final ModelServer openai = new OpenAiServer();

    private ChaosModels() {}

    static ChaosModels open() {
        ChaosModels services = new ChaosModels();
        services.anthropic.answers(ChaosModels::answer);
        services.openai.answers(ChaosModels::answer);
        return services;
    }

    private static ModelAnswer answer(ModelServer.Received request) {
        for (JsonNode message : request.body().path("messages")) {
            if (message.path("role").asText().equals("assistant")) {
                return ModelAnswer.says("Do", "ne.").using(20, 2);
            }
        }
        String model = request.body().path("model").asText();
        int dash = model.lastIndexOf('-');
        ModelAnswer.Speech speech = ModelAnswer.says()
                .plus(new ModelAnswer.Piece.Thought("So many.", "c2lnbmVk"))
                .plus(new ModelAnswer.Piece.Words("Let me see."));
        for (int n = 1; n <= Integer.parseInt(model.substring(dash + 1)); n++) {
            speech = speech.calls("tu_" + n, model.substring(0, dash), "{\"item\": \"n" + n + "\"}");
        }
        return speech.using(10, 5);
    }

    /** Returns the environment variables through which workers in any process find the servers. */
    Map<String, String> environment() {
        Map<String, String> environment = new LinkedHashMap<>(anthropic.environment());
        environment.putAll(openai.environment());
        return environment;
    }

    /** Returns providers that call the servers that these environment variables name. */
    static Map<String, ModelProvider> providers(Map<String, String> environment) {
        return Map.of(
                AnthropicProvider.NAME, AnthropicProvider.of(environment), "openai", OpenAiProvider.of(environment));
    }

    /** Returns why requests were rejected, one text for each rejection. */
    List<String> complaints() {
        return Stream.of(anthropic, openai)
                .flatMap(server -> server.complaints().stream())
                .toList();
    }

    /** Returns the number of requests received over this wire. */
    int asked(ModelWire wire) {
        return switch (wire) {
            case NONE -> 0;
            case ANTHROPIC -> anthropic.received().size();
            case OPENAI -> openai.received().size();
        };
    }

    @Override
    public void close() {
        anthropic.close();
        openai.close();
    }
}
