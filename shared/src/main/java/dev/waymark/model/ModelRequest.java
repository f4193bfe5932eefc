package dev.waymark.model;

import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A request to a model. The transcript ends with the message that the model must answer, and every call in it has its
 * result.
 *
 * @param model the part after {@code provider:}
 * @param options only options that the provider supports; an agent with others is rejected
 */
public record ModelRequest(
        String model,
        Optional<String> instructions,
        List<Message> messages,
        List<ToolSpec> tools,
        int maxTokens,
        ModelOptions options) {

    public ModelRequest {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(instructions, "instructions");
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
        if (maxTokens < 1) {
            throw new IllegalArgumentException("maxTokens: " + maxTokens);
        }
        Objects.requireNonNull(options, "options");
    }

    /** A request without options. */
    public ModelRequest(
            String model, Optional<String> instructions, List<Message> messages, List<ToolSpec> tools, int maxTokens) {
        this(model, instructions, messages, tools, maxTokens, ModelOptions.NONE);
    }

    /** This request for another model, with the options of that model. */
    public ModelRequest to(String other, ModelOptions chosen) {
        return new ModelRequest(other, instructions, messages, tools, maxTokens, chosen);
    }
}
