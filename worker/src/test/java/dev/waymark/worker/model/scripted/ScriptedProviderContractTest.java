package dev.waymark.worker.model.scripted;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.testkit.model.ModelProviderContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;

class ScriptedProviderContractTest extends ModelProviderContract {
    @TempDir
    Path directory;

    @Override
    protected ModelProvider provider() {
        return new ScriptedProvider(directory);
    }

    @Override
    protected String model() {
        return "a.script.yaml";
    }

    @Override
    protected void stage(ModelAnswer.Speech speech) {
        List<Map<String, Object>> calls = new ArrayList<>();
        for (Piece piece : speech.pieces()) {
            if (piece instanceof Piece.Call call) {
                calls.add(Map.of("id", call.id(), "name", call.name(), "input", json(call.arguments())));
            }
        }
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put(
                "text",
                speech.pieces().stream()
                        .filter(Piece.Words.class::isInstance)
                        .map(piece -> ((Piece.Words) piece).text())
                        .collect(Collectors.joining()));
        if (!calls.isEmpty()) {
            reply.put("tool_calls", calls);
        }
        reply.put("delay", speech.pace().toMillis() + "ms");
        reply.put(
                "usage",
                Map.of(
                        "input_tokens", speech.usage().inputTokens(),
                        "output_tokens", speech.usage().outputTokens()));
        script(reply);
    }

    @Override
    protected void stageFailure(boolean passing) {
        script(Map.of("error", Map.of("type", "Overloaded", "message", "Later.", "retryable", passing)));
    }

    @Override
    protected Optional<Integer> timesAsked() {
        return Optional.empty();
    }

    private static Object json(String text) {
        try {
            return Json.of(PayloadJson.MAPPER.readValue(text, Object.class));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    /** Writes the script as JSON, which is also YAML. */
    private void script(Map<String, ?> reply) {
        try {
            Files.writeString(
                    directory.resolve(model()),
                    PayloadJson.MAPPER.writeValueAsString(Map.of("replies", List.of(reply))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
