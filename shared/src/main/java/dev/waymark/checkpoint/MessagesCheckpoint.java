package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The {@code messages} format: a list of rows, one for each message and each result.
 *
 * <p>It cannot represent reasoning and images. An error is wrapped as {@code {"error":TEXT}}; the result of a call with
 * an unknown outcome is such an object already.
 */
public final class MessagesCheckpoint {
    private MessagesCheckpoint() {}

    public static Json of(Conversation state) {
        return Json.of(new MessageRows(new Spelling()).of(CheckpointMessages.messages(state)));
    }

    private static final class Spelling implements MessageRows.Spelling {
        @Override
        public List<Map<String, Object>> results(List<Part.ToolResult> results, Map<String, String> tools) {
            List<Map<String, Object>> rows = new ArrayList<>();
            for (Part.ToolResult result : results) {
                Map<String, Object> row =
                        MessageRows.row("tool", result.isError() ? wrapped(result) : result.content());
                row.put("toolCallId", result.toolUseId());
                row.put("toolName", tools.getOrDefault(result.toolUseId(), ""));
                rows.add(row);
            }
            return rows;
        }

        @Override
        public Map<String, Object> assistant(Message message) {
            Map<String, Object> row = MessageRows.row("assistant", message.text());
            if (!message.toolUses().isEmpty()) {
                row.put(
                        "toolCalls",
                        message.toolUses().stream()
                                .map(MessagesCheckpoint::call)
                                .toList());
            }
            return row;
        }
    }

    private static Map<String, Object> call(Part.ToolUse use) {
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("id", use.id());
        call.put("name", use.name());
        call.put("arguments", FileArguments.written(use.input()));
        return call;
    }

    private static String wrapped(Part.ToolResult result) {
        return ToolTexts.isDurability(result.content()) ? result.content() : ToolTexts.error(result.content());
    }
}
