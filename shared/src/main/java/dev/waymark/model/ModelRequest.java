package dev.waymark.model;

import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A request to a model. The transcript ends with the message that the model must answer, and every call in it has its
 * result.
 *
 * @param model the part after {@code provider:}
 * @param options only options that the provider supports; an agent with others is rejected
 * @param replySchema the JSON Schema that a reply without calls has to match. The instructions contain it, and the
 *     worker checks the reply, so that a provider may ignore it
 */
public record ModelRequest(
        String model,
        Optional<String> instructions,
        List<Message> messages,
        List<ToolSpec> tools,
        int maxTokens,
        ModelOptions options,
        Optional<Json> replySchema) {

    public ModelRequest {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(instructions, "instructions");
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
        if (maxTokens < 1) {
            throw new IllegalArgumentException("maxTokens: " + maxTokens);
        }
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(replySchema, "replySchema");
    }

    /** A request for a reply in any form. */
    public ModelRequest(
            String model,
            Optional<String> instructions,
            List<Message> messages,
            List<ToolSpec> tools,
            int maxTokens,
            ModelOptions options) {
        this(model, instructions, messages, tools, maxTokens, options, Optional.empty());
    }

    /** A request without options. */
    public ModelRequest(
            String model, Optional<String> instructions, List<Message> messages, List<ToolSpec> tools, int maxTokens) {
        this(model, instructions, messages, tools, maxTokens, ModelOptions.NONE);
    }

    /** This request for another model, with the options of that model. */
    public ModelRequest to(String other, ModelOptions chosen) {
        return new ModelRequest(other, instructions, messages, tools, maxTokens, chosen, replySchema);
    }

    /** This request for a reply that matches a schema, or for one in any form. */
    public ModelRequest withReplySchema(Optional<Json> schema) {
        return new ModelRequest(model, instructions, messages, tools, maxTokens, options, schema);
    }

    /** This request with other messages. */
    public ModelRequest withMessages(List<Message> others) {
        return new ModelRequest(model, instructions, others, tools, maxTokens, options, replySchema);
    }

    /** Whether the newest message is one of the user, and not the results of calls. */
    public boolean beginsTurn() {
        return !messages.isEmpty()
                && messages.get(messages.size() - 1).toolResults().isEmpty();
    }
}
