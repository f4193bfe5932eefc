package dev.waymark.worker.model.openai;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.model.http.ReasoningOrigin;
import java.util.List;
import java.util.Map;

/**
 * Stores a model's reasoning, if the server shows it, and the data that the server expects back with the calls that
 * follow. Google signs calls and rejects them without their signature; OpenAI does neither. The metadata names provider
 * and model.
 */
final class ReasoningDetails {
    private static final String CALLS = "calls";

    private ReasoningDetails() {}

    static Part.Reasoning reasoning(String model, String text) {
        return origin(model).reasoning(text);
    }

    /** @param extras the data for the calls that follow, in order; JSON null for a call without data */
    static Part.Reasoning signing(String model, List<Json> extras) {
        return origin(model).reasoning("", Map.of(CALLS, extras));
    }

    /** The data to send back with the calls that follow. */
    static List<Json> signatures(Part.Reasoning reasoning) {
        return reasoning.metadata().field(CALLS) instanceof List<?> extras
                ? extras.stream().map(Json::of).toList()
                : List.of();
    }

    static boolean areOf(Part.Reasoning reasoning, String model) {
        return origin(model).made(reasoning);
    }

    private static ReasoningOrigin origin(String model) {
        return new ReasoningOrigin(OpenAiApi.SERVICE, model);
    }
}
