package dev.waymark.worker.model.openai;

import dev.waymark.conversation.Json;
import dev.waymark.conversation.Part;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a model said to itself, where a server shows it. OpenAI's own does not. The metadata says whose thoughts they are. */
final class Thoughts {
    private static final String PROVIDER = "provider";
    private static final String MODEL = "model";

    private Thoughts() {}

    static Part.Reasoning reasoning(String model, String text) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(PROVIDER, OpenAiProvider.NAME);
        metadata.put(MODEL, model);
        return new Part.Reasoning(text, Json.of(metadata));
    }

    static boolean areOf(Part.Reasoning reasoning, String model) {
        return OpenAiProvider.NAME.equals(reasoning.metadata().field(PROVIDER))
                && model.equals(reasoning.metadata().field(MODEL));
    }
}
