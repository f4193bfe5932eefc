package dev.waymark.checkpoint;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Converts messages to rows, for formats that consist of rows. The results of a message come before its other content.
 * A message is converted once, even if many snapshots contain it.
 */
public final class MessageRows {
    private final Spelling spelling;
    private final Map<Message, List<Json>> spelled = new IdentityHashMap<>();

    /** How a format writes results and replies. Other messages are the same in all formats. */
    public interface Spelling {
        /** @param tools the tools of all calls, by call id */
        List<Map<String, Object>> results(List<Part.ToolResult> results, Map<String, String> tools);

        Map<String, Object> assistant(Message message);
    }

    public MessageRows(Spelling spelling) {
        this.spelling = spelling;
    }

    public List<Json> of(List<Message> messages) {
        Map<String, String> tools = CheckpointMessages.tools(messages);
        List<Json> rows = new ArrayList<>();
        for (Message message : messages) {
            rows.addAll(spelled.computeIfAbsent(message, each -> spell(each, tools)));
        }
        return rows;
    }

    private List<Json> spell(Message message, Map<String, String> tools) {
        List<Map<String, Object>> rows = new ArrayList<>();
        List<Part.ToolResult> results = message.toolResults();
        if (!results.isEmpty()) {
            rows.addAll(spelling.results(results, tools));
        }
        if (message.role() == Role.ASSISTANT) {
            rows.add(spelling.assistant(message));
        } else if (results.size() < message.content().size()) {
            rows.add(row("user", message.text()));
        }
        return rows.stream().map(Json::of).toList();
    }

    public static Map<String, Object> row(String role, Object content) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("role", role);
        row.put("content", content);
        return row;
    }
}
