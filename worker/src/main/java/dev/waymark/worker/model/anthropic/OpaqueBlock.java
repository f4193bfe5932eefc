package dev.waymark.worker.model.anthropic;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.model.http.ReasoningOrigin;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Converts content blocks that only the model that made them can read: signed or encrypted thinking, and block types
 * added later. They are stored as {@link Part.Reasoning}, with provider and model in the metadata.
 */
final class OpaqueBlock {
    private static final String BLOCK = "block";
    private static final String THINKING = "thinking";
    private static final Set<String> BOUND = Set.of(THINKING, "redacted_thinking");

    private OpaqueBlock() {}

    /** @param block the block without its text, so that long thinking is not stored twice */
    static Part.Reasoning reasoning(String model, String text, Json block) {
        return origin(model).reasoning(text, Map.of(BLOCK, block));
    }

    /** The original block, if this model made it. */
    static Optional<Json> of(Part.Reasoning reasoning, String model) {
        if (!origin(model).made(reasoning) || !(reasoning.metadata().field(BLOCK) instanceof Map<?, ?> kept)) {
            return Optional.empty();
        }
        Map<Object, Object> block = new LinkedHashMap<>(kept);
        if (THINKING.equals(kept.get("type"))) {
            block.put(THINKING, reasoning.text());
        }
        return Optional.of(Json.of(block));
    }

    /** Whether the service binds the block to the instructions, the tools and all messages before it. */
    static boolean isBound(Part.Reasoning reasoning) {
        return reasoning.metadata().field(BLOCK) instanceof Map<?, ?> kept
                && kept.get("type") instanceof String type
                && BOUND.contains(type);
    }

    private static ReasoningOrigin origin(String model) {
        return new ReasoningOrigin(AnthropicProvider.NAME, model);
    }
}
