package dev.waymark.worker.model.openai;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.model.http.ReasoningOrigin;
import java.util.Map;
import java.util.Optional;

/**
 * Content that only the model that made it can use: encrypted reasoning, and the phases of messages. Both are stored as
 * {@link Part.Reasoning}, with provider and model in the metadata.
 */
final class ResponseItems {
    private static final String ITEM = "item";
    private static final String PHASE = "phase";

    private ResponseItems() {}

    /** @param item the item as the service sent it; empty if it cannot be sent back */
    static Part.Reasoning reasoning(String model, String summary, Optional<Json> item) {
        ReasoningOrigin origin = origin(model);
        return item.map(sent -> origin.reasoning(summary, Map.of(ITEM, sent)))
                .orElseGet(() -> origin.reasoning(summary));
    }

    /** Stores the phase of the text that follows. */
    static Part.Reasoning phase(String model, String phase) {
        return origin(model).reasoning("", Map.of(PHASE, phase));
    }

    static boolean areOf(Part.Reasoning reasoning, String model) {
        return origin(model).made(reasoning);
    }

    /** The stored item to send back; empty if there is none. */
    static Optional<Json> item(Part.Reasoning reasoning) {
        return reasoning.metadata().field(ITEM) instanceof Map<?, ?> item
                ? Optional.of(Json.of(item))
                : Optional.empty();
    }

    static Optional<String> phase(Part.Reasoning reasoning) {
        return reasoning.metadata().field(PHASE) instanceof String phase ? Optional.of(phase) : Optional.empty();
    }

    private static ReasoningOrigin origin(String model) {
        return new ReasoningOrigin(ResponsesProvider.NAME, model);
    }
}
