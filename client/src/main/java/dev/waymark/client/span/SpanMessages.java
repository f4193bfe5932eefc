package dev.waymark.client.span;

import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Messages in the schema of OpenTelemetry's conventions. Omits data that providers expect back, such as signatures, and
 * the content of images.
 */
final class SpanMessages {
    private SpanMessages() {}

    static String instructions(String text) {
        return json(List.of(part("text", "content", text)));
    }

    static String input(List<Message> messages) {
        return json(messages.stream()
                .map(message -> {
                    boolean hasResults = !message.toolResults().isEmpty();
                    return message(hasResults ? "tool" : message.role().wireName(), message.content());
                })
                .toList());
    }

    static String output(Reply reply) {
        return output(reply.content(), finish(reply));
    }

    static String output(String text) {
        return output(List.of(new Part.Text(text)), "stop");
    }

    private static String output(List<Part> content, String finish) {
        Map<String, Object> message = message(Role.ASSISTANT.wireName(), content);
        message.put("finish_reason", finish);
        return json(List.of(message));
    }

    /** Why the reply ended, in the words of the conventions. */
    private static String finish(Reply reply) {
        if (!reply.isLastWord()) {
            return "tool_call";
        }
        return reply.isCut() ? "length" : "stop";
    }

    private static Map<String, Object> message(String role, List<Part> content) {
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("role", role);
        List<Map<String, Object>> parts = new ArrayList<>();
        content.forEach(part -> part(part).ifPresent(parts::add));
        message.put("parts", parts);
        return message;
    }

    private static Optional<Map<String, Object>> part(Part part) {
        if (part instanceof Part.Text text) {
            return Optional.of(part("text", "content", text.text()));
        } else if (part instanceof Part.Reasoning reasoning) {
            return Optional.of(reasoning.text())
                    .filter(text -> !text.isEmpty())
                    .map(text -> part("reasoning", "content", text));
        } else if (part instanceof Part.ToolUse use) {
            Map<String, Object> call = part("tool_call", "id", use.id());
            call.put("name", use.name());
            call.put("arguments", use.input());
            return Optional.of(call);
        } else if (part instanceof Part.ToolResult result) {
            Map<String, Object> response = part("tool_call_response", "id", result.toolUseId());
            response.put("response", result.told());
            return Optional.of(response);
        } else if (part instanceof Part.Image image) {
            Map<String, Object> uri = part("uri", "modality", "image");
            image.mimeType().ifPresent(type -> uri.put("mime_type", type));
            uri.put("uri", image.url());
            return Optional.of(uri);
        }
        return Optional.of(part("text", "content", "(an image)"));
    }

    private static Map<String, Object> part(String type, String name, String value) {
        Map<String, Object> part = new LinkedHashMap<>();
        part.put("type", type);
        part.put(name, value);
        return part;
    }

    private static String json(Object value) {
        return PayloadJson.MAPPER.valueToTree(value).toString();
    }
}
