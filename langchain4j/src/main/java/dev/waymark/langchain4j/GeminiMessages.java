package dev.waymark.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Changes messages that LangChain4j's Gemini module would translate into a request that the service rejects. */
final class GeminiMessages {
    /** The attribute in which LangChain4j passes on the signature of a message's first call. */
    private static final String SIGNATURE = "thinking_signature";

    /** Google documents this value for calls that have no signature, because another model made them. */
    private static final String ANY_SIGNATURE = "skip_thought_signature_validator";

    private GeminiMessages() {}

    /**
     * Turns calls that a model made at once into calls made one after the other, each followed by its result. The
     * service expects the results of such calls in one message, and LangChain4j sends a message for each.
     */
    static List<ChatMessage> withSingleCalls(List<ChatMessage> messages) {
        List<ChatMessage> changed = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            if (!(messages.get(i) instanceof AiMessage reply)
                    || reply.toolExecutionRequests().size() < 2) {
                changed.add(messages.get(i));
                continue;
            }
            Map<String, ToolExecutionResultMessage> results = new HashMap<>();
            while (i + 1 < messages.size() && messages.get(i + 1) instanceof ToolExecutionResultMessage result) {
                results.put(result.id(), result);
                i++;
            }
            boolean first = true;
            for (ToolExecutionRequest call : reply.toolExecutionRequests()) {
                AiMessage.Builder step = first ? copy(reply) : AiMessage.builder();
                changed.add(step.toolExecutionRequests(List.of(call)).build());
                if (results.containsKey(call.id())) {
                    changed.add(results.get(call.id()));
                }
                first = false;
            }
        }
        return changed;
    }

    /** Adds a signature to each message with calls that has none. Models that demand one reject the request otherwise. */
    static List<ChatMessage> withSignatures(List<ChatMessage> messages) {
        return messages.stream()
                .map(message -> message instanceof AiMessage reply
                                && reply.hasToolExecutionRequests()
                                && !reply.attributes().containsKey(SIGNATURE)
                        ? signed(reply)
                        : message)
                .toList();
    }

    private static ChatMessage signed(AiMessage reply) {
        Map<String, Object> attributes = new LinkedHashMap<>(reply.attributes());
        attributes.put(SIGNATURE, ANY_SIGNATURE);
        return copy(reply).attributes(attributes).build();
    }

    private static AiMessage.Builder copy(AiMessage reply) {
        return AiMessage.builder()
                .text(reply.text())
                .thinking(reply.thinking())
                .toolExecutionRequests(reply.toolExecutionRequests())
                .attributes(reply.attributes());
    }
}
