package dev.waymark.worker.model.openai;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What only the model that made it understands: encrypted reasoning, and the phases of messages. Both are stored as
 * {@link Part.Reasoning}, with provider and model in the metadata.
 */
final class ResponseItems {
    private static final String PROVIDER = "provider";
    private static final String MODEL = "model";
    private static final String ITEM = "item";
    private static final String PHASE = "phase";

    private ResponseItems() {}

    /** @param item the item as the service sent it; empty if it cannot be sent back */
    static Part.Reasoning reasoning(String model, String summary, Optional<Json> item) {
        Map<String, Object> metadata = metadata(model);
        item.ifPresent(sent -> metadata.put(ITEM, sent));
        return new Part.Reasoning(summary, Json.of(metadata));
    }

    /** The phase of the text that follows. */
    static Part.Reasoning phase(String model, String phase) {
        Map<String, Object> metadata = metadata(model);
        metadata.put(PHASE, phase);
        return new Part.Reasoning("", Json.of(metadata));
    }

    private static Map<String, Object> metadata(String model) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(PROVIDER, ResponsesProvider.NAME);
        metadata.put(MODEL, model);
        return metadata;
    }

    static boolean areOf(Part.Reasoning reasoning, String model) {
        return ResponsesProvider.NAME.equals(reasoning.metadata().field(PROVIDER))
                && model.equals(reasoning.metadata().field(MODEL));
    }

    /** The item to send back. */
    static Optional<Json> item(Part.Reasoning reasoning) {
        return reasoning.metadata().field(ITEM) instanceof Map<?, ?> item
                ? Optional.of(Json.of(item))
                : Optional.empty();
    }

    static Optional<String> phase(Part.Reasoning reasoning) {
        return reasoning.metadata().field(PHASE) instanceof String phase ? Optional.of(phase) : Optional.empty();
    }
}
