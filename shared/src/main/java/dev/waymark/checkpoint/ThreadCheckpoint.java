package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import dev.waymark.timeline.Timeline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The {@code thread} format: messages, todos and files of a named thread, and the call that waits for a person.
 *
 * <p>If an approved call then asked a question, its approval is stored among the messages, as the format's own library
 * does. Otherwise the call would look like one that waits for approval, and would be run.
 *
 * <p>It cannot represent reasoning, images and plans. Steps are counted over the thread's whole life, from 1.
 */
public final class ThreadCheckpoint {
    private ThreadCheckpoint() {}

    public static Json of(Timeline timeline) {
        Conversation state = timeline.now();
        int step = Math.max(1, state.counters().steps());
        Map<String, Object> checkpoint = new LinkedHashMap<>();
        checkpoint.put("threadId", timeline.thread());
        checkpoint.put("step", step);
        checkpoint.put("messages", rows(state));
        checkpoint.put("state", state(state.workspace()));
        CheckpointMessages.waiting(state).ifPresent(call -> checkpoint.put("interrupt", interrupt(call, step)));
        checkpoint.put("createdAt", time(state.createdAt()));
        checkpoint.put("updatedAt", time(state.updatedAt()));
        return Json.of(checkpoint);
    }

    /** The number of messages in a checkpoint of this state. */
    public static int messageCount(Conversation state) {
        return rows(state).size();
    }

    private static List<Json> rows(Conversation state) {
        List<String> approved = CheckpointMessages.waiting(state).isPresent()
                ? CheckpointMessages.approvedAndAsking(state).stream()
                        .map(Call::id)
                        .toList()
                : List.of();
        List<Json> rows = new MessageRows(new Spelling(Set.copyOf(approved))).of(CheckpointMessages.messages(state));
        if (!approved.isEmpty()) {
            List<Object> content = new ArrayList<>(
                    approved.stream().map(ThreadCheckpoint::approval).toList());
            if (!state.uncommittedResults().isEmpty()) {
                Json results = rows.remove(rows.size() - 1);
                content.addAll(0, (List<?>) Objects.requireNonNull(results.field("content")));
            }
            rows.add(Json.of(MessageRows.row("tool", content)));
        }
        return rows;
    }

    /** A request for approval of a call. The call's id serves as the id of the request. */
    private static Map<String, Object> approvalRequest(String callId) {
        Map<String, Object> part = new LinkedHashMap<>();
        part.put("type", "tool-approval-request");
        part.put("approvalId", callId);
        part.put("toolCallId", callId);
        return part;
    }

    private static Map<String, Object> approval(String callId) {
        Map<String, Object> part = new LinkedHashMap<>();
        part.put("type", "tool-approval-response");
        part.put("approvalId", callId);
        part.put("approved", true);
        return part;
    }

    private record Spelling(Set<String> approved) implements MessageRows.Spelling {
        @Override
        public List<Map<String, Object>> results(List<Part.ToolResult> results, Map<String, String> tools) {
            return List.of(MessageRows.row(
                    "tool",
                    results.stream()
                            .map(result -> toolResult(result, tools.getOrDefault(result.toolUseId(), "")))
                            .toList()));
        }

        @Override
        public Map<String, Object> assistant(Message message) {
            return MessageRows.row("assistant", message.toolUses().isEmpty() ? message.text() : parts(message));
        }

        private List<Object> parts(Message message) {
            List<Object> parts = new ArrayList<>();
            for (Part part : message.content()) {
                if (part instanceof Part.Text) {
                    parts.add(part.tree());
                } else if (part instanceof Part.ToolUse use) {
                    parts.add(toolCall(use));
                    if (approved.contains(use.id())) {
                        parts.add(approvalRequest(use.id()));
                    }
                }
            }
            return parts;
        }
    }

    private static Map<String, Object> toolCall(Part.ToolUse use) {
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("type", "tool-call");
        call.put("toolCallId", use.id());
        call.put("toolName", use.name());
        call.put("input", FileArguments.written(use.input()));
        return call;
    }

    private static Map<String, Object> toolResult(Part.ToolResult result, String tool) {
        Map<String, Object> output = new LinkedHashMap<>();
        output.put("type", "text");
        output.put("value", result.content());
        Map<String, Object> part = new LinkedHashMap<>();
        part.put("type", "tool-result");
        part.put("toolCallId", result.toolUseId());
        part.put("toolName", tool);
        part.put("output", output);
        return part;
    }

    private static Map<String, Object> state(Workspace workspace) {
        Map<String, Object> state = new LinkedHashMap<>();
        state.put(
                "todos", workspace.todos().stream().map(ThreadCheckpoint::todo).toList());
        Map<String, Object> files = new LinkedHashMap<>();
        workspace.files().forEach((path, file) -> files.put(path, file(file)));
        state.put("files", files);
        return state;
    }

    private static Map<String, Object> todo(Workspace.Todo todo) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", todo.id());
        row.put("content", todo.content());
        row.put("status", todo.status());
        return row;
    }

    private static Map<String, Object> file(Workspace.VirtualFile file) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("content", List.of(file.content().split("\n", -1)));
        row.put("created_at", time(file.createdAt()));
        row.put("modified_at", time(file.modifiedAt()));
        return row;
    }

    private static Map<String, Object> interrupt(Call call, int step) {
        Map<String, Object> toolCall = new LinkedHashMap<>();
        toolCall.put("toolCallId", call.id());
        toolCall.put("toolName", call.tool());
        toolCall.put("args", FileArguments.written(call.args()));
        Map<String, Object> interrupt = new LinkedHashMap<>();
        interrupt.put("toolCall", toolCall);
        interrupt.put("step", step);
        return interrupt;
    }

    private static String time(Instant at) {
        return Timestamps.millis(at);
    }
}
