package dev.waymark.worker.model.openai;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A model's reasoning, if a server shows it, and the data that a server expects back with the calls that follow. Google
 * signs calls and rejects them without their signature; OpenAI does neither. The metadata names provider and model.
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

    /** @param extras for the calls that follow, in order; null for a call without any */
    static Part.Reasoning signing(String model, List<Json> extras) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(PROVIDER, OpenAiProvider.NAME);
        metadata.put(MODEL, model);
        metadata.put(CALLS, extras);
        return new Part.Reasoning("", Json.of(metadata));
    }

    /** The data to send back with the calls that follow. */
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
