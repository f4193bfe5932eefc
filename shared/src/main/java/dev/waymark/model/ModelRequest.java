package dev.waymark.model;

import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A request to a model. The transcript ends with the message that the model must answer, and every call in it has its
 * result.
 *
 * @param model the part after {@code provider:}
 * @param options only options that the provider supports; an agent with others is rejected
 * @param replySchema the JSON Schema that a reply without calls has to match, if every request of the thread had it.
 *     The messages contain it, and the worker checks the reply, so that a provider may ignore it
 * @param boundFrom the number of messages when the current prefix of the prompt began. Their reasoning is not sent to a
 *     service that binds reasoning to everything before it.
 * @param unreadableBefore the number of messages whose reasoning the service refused to read; it is not sent again
 * @param cacheKey a key that requests with the same beginning share, for services that use it for their caches
 */
public record ModelRequest(
        String model,
        Optional<String> instructions,
        List<Message> messages,
        List<ToolSpec> tools,
        int maxTokens,
        ModelOptions options,
        Optional<Json> replySchema,
        int boundFrom,
        int unreadableBefore,
        Optional<String> cacheKey) {

    public ModelRequest {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(instructions, "instructions");
        messages = List.copyOf(messages);
        tools = List.copyOf(tools);
        if (maxTokens < 1) {
            throw new IllegalArgumentException("maxTokens must be at least 1, found " + maxTokens);
        }
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(replySchema, "replySchema");
        Objects.requireNonNull(cacheKey, "cacheKey");
    }

    /** A request for a reply in any form. */
    public ModelRequest(
            String model,
            Optional<String> instructions,
            List<Message> messages,
            List<ToolSpec> tools,
            int maxTokens,
            ModelOptions options) {
        this(model, instructions, messages, tools, maxTokens, options, Optional.empty(), 0, 0, Optional.empty());
    }

    /** A request without options. */
    public ModelRequest(
            String model, Optional<String> instructions, List<Message> messages, List<ToolSpec> tools, int maxTokens) {
        this(model, instructions, messages, tools, maxTokens, ModelOptions.NONE);
    }

    /** This request for another model, with the options of that model. */
    public ModelRequest to(String other, ModelOptions chosen) {
        return with(edit -> {
            edit.model = other;
            edit.options = chosen;
        });
    }

    /** This request for a reply that matches a schema, or for one in any form. */
    public ModelRequest withReplySchema(Optional<Json> schema) {
        return with(edit -> edit.replySchema = schema);
    }

    /** This request with other messages. */
    public ModelRequest withMessages(List<Message> others) {
        return with(edit -> edit.messages = others);
    }

    /** This request with this {@code boundFrom}. */
    public ModelRequest boundFrom(int messageCount) {
        return with(edit -> edit.boundFrom = messageCount);
    }

    /** This request with this {@code unreadableBefore}. */
    public ModelRequest unreadableBefore(int messageCount) {
        return with(edit -> edit.unreadableBefore = messageCount);
    }

    /** This request with this {@code cacheKey}. */
    public ModelRequest withCacheKey(Optional<String> key) {
        return with(edit -> edit.cacheKey = key);
    }

    private ModelRequest with(Consumer<Edit> changes) {
        Edit edit = new Edit();
        changes.accept(edit);
        return edit.done();
    }

    /** Whether the request contains reasoning that may be sent. */
    public boolean hasReasoning() {
        return messages
                .subList(Math.min(messages.size(), Math.max(boundFrom, unreadableBefore)), messages.size())
                .stream()
                .flatMap(message -> message.content().stream())
                .anyMatch(Part.Reasoning.class::isInstance);
    }

    /** Whether the newest message is a message of the user, not the results of calls. */
    public boolean beginsTurn() {
        return !messages.isEmpty()
                && messages.get(messages.size() - 1).toolResults().isEmpty();
    }

    private final class Edit {
        private String model = ModelRequest.this.model;
        private List<Message> messages = ModelRequest.this.messages;
        private ModelOptions options = ModelRequest.this.options;
        private Optional<Json> replySchema = ModelRequest.this.replySchema;
        private int boundFrom = ModelRequest.this.boundFrom;
        private int unreadableBefore = ModelRequest.this.unreadableBefore;
        private Optional<String> cacheKey = ModelRequest.this.cacheKey;

        ModelRequest done() {
            return new ModelRequest(
                    model,
                    instructions,
                    messages,
                    tools,
                    maxTokens,
                    options,
                    replySchema,
                    boundFrom,
                    unreadableBefore,
                    cacheKey);
        }
    }
}
