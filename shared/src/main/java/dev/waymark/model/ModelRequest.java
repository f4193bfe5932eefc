package dev.waymark.model;

import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A request to a model. The transcript ends with what the model has to answer, and every call in it has its result.
 *
 * @param model the part after {@code provider:}
 */
public record ModelRequest(
        String model, Optional<String> instructions, List<Message> messages, List<ToolSpec> tools, int maxTokens) {

    public ModelRequest {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(instructions, "instructions");
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
        if (maxTokens < 1) {
            throw new IllegalArgumentException("maxTokens: " + maxTokens);
        }
    }
}
