package dev.waymark.worker.model.openai;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a model said to itself, where a server shows it, and what a server wants back with the calls that it led to: Google's
 * signs them, and takes none back without. OpenAI's own does neither. The metadata says whose thoughts they are.
 */
final class ReasoningDetails {
    private static final String PROVIDER = "provider";
    private static final String MODEL = "model";
    private static final String CALLS = "calls";

    private ReasoningDetails() {}

    static Part.Reasoning reasoning(String model, String text) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(PROVIDER, OpenAiProvider.NAME);
        metadata.put(MODEL, model);
        return new Part.Reasoning(text, Json.of(metadata));
    }

    /** @param extras of the calls that follow, in their order; null where one has none */
    static Part.Reasoning signing(String model, List<Json> extras) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(PROVIDER, OpenAiProvider.NAME);
        metadata.put(MODEL, model);
        metadata.put(CALLS, extras);
        return new Part.Reasoning("", Json.of(metadata));
    }

    /** What goes back with the calls that follow. */
    static List<Json> signatures(Part.Reasoning reasoning) {
        return reasoning.metadata().field(CALLS) instanceof List<?> extras
                ? extras.stream().map(Json::of).toList()
                : List.of();
    }

    static boolean areOf(Part.Reasoning reasoning, String model) {
        return OpenAiProvider.NAME.equals(reasoning.metadata().field(PROVIDER))
                && model.equals(reasoning.metadata().field(MODEL));
    }
}
