package dev.waymark.checkpoint;

import dev.waymark.conversation.Json;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Restoration;
import dev.waymark.conversation.Role;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.conversation.Usage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the {@code messages} format. Calls that were left without a result in the middle of it are given one. */
final class MessagesReader {
    private MessagesReader() {}

    static CheckpointReader.Named read(List<?> list, Instant now) {
        Restoration conversation = new Restoration(now, true).turn(1, 0, Usage.NONE, now);
        Fields.each(list, "", MessagesReader::message)
                .forEach(message -> conversation.say(message, Optional.empty(), now));
        return new CheckpointReader.Named(conversation, Optional.empty());
    }

    private static Message message(Object value, String place) {
        Fields row = Fields.of(value, place);
        return switch (row.text("role")) {
            case "user" -> Message.user(row.only("role", "content").text("content"));
            case "assistant" -> assistant(row.only("role", "content", "toolCalls"));
            case "tool" -> {
                row.only("role", "content", "toolCallId", "toolName");
                row.optionalText("toolName");
                yield Message.results(List.of(result(row.id("toolCallId"), row.text("content"))));
            }
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
    }

    private static Message assistant(Fields row) {
        List<Part> parts = new ArrayList<>();
        boolean calls = row.has("toolCalls") && !row.list("toolCalls").isEmpty();
        String text = row.text("content");
        if (!text.isEmpty() || !calls) {
            parts.add(new Part.Text(text));
        }
        if (calls) {
            parts.addAll(row.each("toolCalls", MessagesReader::call));
        }
        return new Message(Role.ASSISTANT, parts);
    }

    private static Part.ToolUse call(Object value, String place) {
        Fields call = Fields.of(value, place).only("id", "name", "arguments");
        return new Part.ToolUse(call.id("id"), call.id("name"), call.json("arguments"));
    }

    /** A failure stands in an object of its own, and what is told of an unknown outcome is such an object. */
    private static Part.ToolResult result(String callId, String content) {
        if (ToolTexts.isDurability(content)) {
            return new Part.ToolResult(callId, content, true);
        }
        return error(content)
                .map(text -> new Part.ToolResult(callId, text, true))
                .orElseGet(() -> new Part.ToolResult(callId, content, false));
    }

    private static Optional<String> error(String content) {
        if (!content.startsWith("{")) {
            return Optional.empty();
        }
        try {
            List<Json> documents = CheckpointJson.read(content.getBytes(StandardCharsets.UTF_8));
            boolean wrapped = documents.size() == 1
                    && documents.get(0).value() instanceof Map<?, ?> map
                    && map.size() == 1
                    && map.get("error") instanceof String;
            return wrapped ? Optional.of((String) documents.get(0).field("error")) : Optional.empty();
        } catch (CheckpointCorruption notJson) {
            return Optional.empty();
        }
    }
}
