package dev.waymark.worker.model.http;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The provider and the model that made reasoning, as stored in its metadata. Reasoning is sent back only to the model
 * that made it, because other models reject it.
 */
public record ReasoningOrigin(String provider, String model) {
    private static final String PROVIDER = "provider";
    private static final String MODEL = "model";

    /** Reasoning that consists of text only. */
    public Part.Reasoning reasoning(String text) {
        return reasoning(text, Map.of());
    }

    /** @param details the fields that the provider expects back, stored next to provider and model */
    public Part.Reasoning reasoning(String text, Map<String, ?> details) {
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(PROVIDER, provider);
        metadata.put(MODEL, model);
        metadata.putAll(details);
        return new Part.Reasoning(text, Json.of(metadata));
    }

    /** Whether this model made the reasoning. */
    public boolean made(Part.Reasoning reasoning) {
        return provider.equals(reasoning.metadata().field(PROVIDER))
                && model.equals(reasoning.metadata().field(MODEL));
    }
}
