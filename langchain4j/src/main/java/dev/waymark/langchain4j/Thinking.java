package dev.waymark.langchain4j;

import dev.langchain4j.data.message.AiMessage;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Stores the thinking of a LangChain4j model, with the signatures that its service expects back. Only the model that
 * made them gets them back, because other models reject them.
 */
final class Thinking {
    private static final String PROVIDER = "provider";
    private static final String NAME = "langchain4j";
    private static final String MODEL = "model";
    private static final String ATTRIBUTES = "attributes";

    private Thinking() {}

    /** The thinking of a reply, if the model is built with {@code returnThinking(true)} and has thought. */
    static Optional<Part.Reasoning> of(AiMessage reply, String model) {
        Map<String, Object> attributes = new TreeMap<>();
        reply.attributes().forEach((name, value) -> {
            // Other values, such as images, cannot be stored in a history.
            if (value instanceof String
                    || (value instanceof List<?> list && list.stream().allMatch(String.class::isInstance))) {
                attributes.put(name, value);
            }
        });
        String text = reply.thinking() == null ? "" : reply.thinking();
        if (text.isEmpty() && attributes.isEmpty()) {
            return Optional.empty();
        }
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put(PROVIDER, NAME);
        metadata.put(MODEL, model);
        metadata.put(ATTRIBUTES, attributes);
        return Optional.of(new Part.Reasoning(text, Json.of(metadata)));
    }

    /** Adds the thinking that this model stored in the message. LangChain4j sends it if the model is built to do so. */
    static void restore(Message message, String model, AiMessage.Builder reply) {
        for (Part part : message.content()) {
            if (part instanceof Part.Reasoning reasoning
                    && NAME.equals(reasoning.metadata().field(PROVIDER))
                    && model.equals(reasoning.metadata().field(MODEL))) {
                if (!reasoning.text().isEmpty()) {
                    reply.thinking(reasoning.text());
                }
                if (reasoning.metadata().field(ATTRIBUTES) instanceof Map<?, ?> stored) {
                    Map<String, Object> attributes = new LinkedHashMap<>();
                    stored.forEach((name, value) -> attributes.put(String.valueOf(name), value));
                    reply.attributes(attributes);
                }
            }
        }
    }
}
