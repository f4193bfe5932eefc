package dev.waymark.checkpoint;

import dev.waymark.conversation.Restoration;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the {@code messages} format. Calls that were left without a result in the middle of it are given one, and so are
 * those that have no id: some providers give none. They are told apart by their tools and their order.
 */
final class MessagesReader {
    private final Set<String> ids = new HashSet<>();
    /** By tool, the calls of the newest reply that came without an id, and have no result yet. */
    private final Map<String, Deque<String>> unnamed = new HashMap<>();

    private int made;

    private MessagesReader(List<?> rows) {
        for (Object row : rows) {
            if (row instanceof Map<?, ?> map && map.get("toolCalls") instanceof List<?> calls) {
                calls.forEach(call -> ids.add(call instanceof Map<?, ?> one ? String.valueOf(one.get("id")) : ""));
            }
        }
    }

    static CheckpointReader.Named read(List<?> list, Instant now) {
        Restoration conversation = new Restoration(now, true).turn(1, 0, Usage.NONE, now);
        MessagesReader reader = new MessagesReader(list);
        CheckpointFields.each(list, "", reader::message)
                .forEach(message -> conversation.say(message, Optional.empty(), now));
        return new CheckpointReader.Named(conversation, Optional.empty());
    }

    private Message message(Object value, String place) {
        CheckpointFields row = CheckpointFields.of(value, place);
        return switch (row.text("role")) {
            case "user" -> Message.user(row.only("role", "content").text("content"));
            case "assistant" -> assistant(row.only("role", "content", "toolCalls"));
            case "tool" -> {
                row.only("role", "content", "toolCallId", "toolName");
                Optional<String> tool = row.optionalText("toolName");
                String callId = row.isNull("toolCallId") ? unnamed(row, tool) : row.id("toolCallId");
                yield Message.results(List.of(result(callId, row.text("content"))));
            }
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
    }

    private String unnamed(CheckpointFields row, Optional<String> tool) {
        return tool.map(unnamed::get).map(Deque::poll).orElseThrow(() -> row.corrupt("a result of no call"));
    }

    private Message assistant(CheckpointFields row) {
        unnamed.clear();
        List<Part> parts = new ArrayList<>();
        boolean calls = row.has("toolCalls") && !row.list("toolCalls").isEmpty();
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
        CheckpointFields call = CheckpointFields.of(value, place).only("id", "name", "arguments");
        if (!call.isNull("id")) {
            return new Part.ToolUse(call.id("id"), call.id("name"), call.json("arguments"));
        }
        do {
            made++;
        } while (!ids.add("call_" + made));
        Part.ToolUse use = new Part.ToolUse("call_" + made, call.id("name"), call.json("arguments"));
        unnamed.computeIfAbsent(use.name(), tool -> new ArrayDeque<>()).add(use.id());
        return use;
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
            return wrapped ? Optional.ofNullable((String) documents.get(0).field("error")) : Optional.empty();
        } catch (CheckpointCorruption notJson) {
            return Optional.empty();
        }
    }
}
