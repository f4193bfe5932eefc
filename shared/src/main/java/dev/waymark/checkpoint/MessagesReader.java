package dev.waymark.checkpoint;

import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.rule.Restoration;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads the {@code messages} format. Calls in the middle of the conversation that have no result are given one. Calls
 * may have no ids, since some providers do not set them.
 */
final class MessagesReader {
    private final CallIds ids;

    private MessagesReader(List<?> rows) {
        List<String> known = new ArrayList<>();
        for (Object row : rows) {
            if (row instanceof Map<?, ?> map && map.get("toolCalls") instanceof List<?> calls) {
                calls.forEach(call -> known.add(call instanceof Map<?, ?> one ? String.valueOf(one.get("id")) : ""));
            }
        }
        ids = new CallIds(known);
    }

    static CheckpointReader.Named read(List<?> list, Instant now) {
        Restoration conversation = Rules.restore(now, true).turn(1, 0, Usage.NONE, now);
        MessagesReader reader = new MessagesReader(list);
        CheckpointFields.each(list, "", reader::message)
                .forEach(message -> conversation.say(message, Optional.empty(), now));
        reader.ids.endReply();
        return new CheckpointReader.Named(conversation, Optional.empty());
    }

    private Message message(Object value, String place) {
        CheckpointFields row = CheckpointFields.of(value, place);
        row.checkThatCallsAreIn("\"toolCalls\"");
        return switch (row.text("role")) {
            // The agent's own instructions are not among the messages, so a system message is part of the conversation.
            case "user", "system" -> Message.user(row.text("content"));
            case "assistant" -> assistant(row);
            case "tool" -> {
                String callId = ids.result(row.optionalId("toolCallId"), row.optionalName("toolName"))
                        .orElseThrow(() -> row.corrupt("a result without a call"));
                yield Message.results(List.of(result(callId, row.text("content"))));
            }
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
    }

    private Message assistant(CheckpointFields row) {
        ids.beginReply();
        List<Part> parts = new ArrayList<>();
        boolean calls = !row.isNull("toolCalls") && !row.list("toolCalls").isEmpty();
        String text = row.text("content");
        if (!text.isEmpty() || !calls) {
            parts.add(new Part.Text(text));
        }
        if (calls) {
            parts.addAll(row.each("toolCalls", this::call));
        }
        return new Message(Role.ASSISTANT, parts);
    }

    private Part.ToolUse call(Object value, String place) {
        CheckpointFields call = CheckpointFields.of(value, place);
        String tool = call.id("name");
        return new Part.ToolUse(ids.call(call.optionalId("id"), tool), tool, FileArguments.read(call, "arguments"));
    }

    /** An error is wrapped in an object. A result with an unknown outcome is such an object already. */
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
            return wrapped ? Optional.ofNullable((String) documents.get(0).field("error")) : Optional.empty();
        } catch (CheckpointCorruption notJson) {
            return Optional.empty();
        }
    }
}
