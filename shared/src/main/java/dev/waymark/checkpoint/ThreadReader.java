package dev.waymark.checkpoint;

import dev.waymark.conversation.Index;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Restoration;
import dev.waymark.conversation.Role;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.conversation.Usage;
import dev.waymark.conversation.Workspace;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the {@code thread} format. */
final class ThreadReader {
    private ThreadReader() {}

    static CheckpointReader.Named read(Fields fields) {
        fields.only("threadId", "step", "messages", "state", "interrupt", "createdAt", "updatedAt");
        Instant createdAt = fields.time("createdAt");
        Instant updatedAt = fields.time("updatedAt");
        int step = fields.count("step");
        Restoration conversation = new Restoration(createdAt, false)
                .turn(1, 0, Usage.NONE, updatedAt)
                .counted(step, 0)
                .updated(updatedAt)
                .desk(desk(fields.object("state").only("todos", "files")));
        List<Row> rows = fields.each("messages", ThreadReader::row);
        List<String> approved =
                rows.stream().flatMap(row -> row.approved().stream()).toList();
        approved.forEach(conversation::approved);
        if (fields.has("interrupt")) {
            Fields interrupt = fields.object("interrupt").only("toolCall", "step");
            Fields call = interrupt.object("toolCall").only("toolCallId", "toolName", "args");
            call.id("toolName");
            Json args = call.json("args");
            interrupt.count("step");
            String callId = call.id("toolCallId");
            if (approved.contains(callId)) {
                conversation.ranWith(callId, args);
            }
            conversation.pending(callId);
        }
        rows.forEach(row -> row.message().ifPresent(message -> conversation.say(message, Optional.empty(), updatedAt)));
        return new CheckpointReader.Named(conversation, Optional.of(fields.id("threadId")));
    }

    /** A row of the transcript. One that only tells of approvals says nothing. */
    private record Row(Optional<Message> message, List<String> approved) {}

    private static Row row(Object value, String place) {
        Fields row = Fields.of(value, place);
        if (!row.text("role").equals("tool")) {
            return new Row(Optional.of(message(row)), List.of());
        }
        List<Fields> parts = row.only("role", "content").each("content", Fields::of);
        List<Part> results = new ArrayList<>();
        List<String> approved = new ArrayList<>();
        for (Fields part : parts) {
            if (part.text("type").equals("tool-approval-response")) {
                part.only("type", "approvalId", "approved");
                if (!part.flag("approved")) {
                    throw part.corrupt("a call that was denied has no result");
                }
                approved.add(part.id("approvalId"));
            } else {
                results.add(result(part));
            }
        }
        boolean onlyApprovals = results.isEmpty() && !approved.isEmpty();
        return new Row(onlyApprovals ? Optional.empty() : Optional.of(new Message(Role.USER, results)), approved);
    }

    private static Message message(Fields row) {
        row.only("role", "content");
        return switch (row.text("role")) {
            case "user" -> Message.user(row.text("content"));
            case "assistant" ->
                row.value("content") instanceof String text
                        ? new Message(Role.ASSISTANT, List.of(new Part.Text(text)))
                        : new Message(
                                Role.ASSISTANT,
                                row.each("content", ThreadReader::part).stream()
                                        .flatMap(Optional::stream)
                                        .toList());
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
    }

    private static Optional<Part> part(Object value, String place) {
        Fields part = Fields.of(value, place);
        return switch (part.text("type")) {
            case "text" -> Optional.of(new Part.Text(part.only("type", "text").text("text")));
            case "tool-call" -> {
                part.only("type", "toolCallId", "toolName", "input");
                yield Optional.of(new Part.ToolUse(part.id("toolCallId"), part.id("toolName"), part.json("input")));
            }
            case "tool-approval-request" -> {
                part.only("type", "approvalId", "toolCallId");
                if (!part.id("approvalId").equals(part.id("toolCallId"))) {
                    throw part.corrupt("\"approvalId\" is not the id of the call");
                }
                yield Optional.empty();
            }
            default -> throw part.corrupt("no such part: " + part.text("type"));
        };
    }

    private static Part.ToolResult result(Fields part) {
        part.only("type", "toolCallId", "toolName", "output");
        if (!part.text("type").equals("tool-result")) {
            throw part.corrupt("no such part: " + part.text("type"));
        }
        part.text("toolName");
        Fields output = part.object("output").only("type", "value");
        boolean isError = output.text("type").equals("error-text");
        if (!isError && !output.text("type").equals("text")) {
            throw output.corrupt("no such output: " + output.text("type"));
        }
        String text = output.text("value");
        return new Part.ToolResult(part.id("toolCallId"), text, isError || ToolTexts.isFailure(text));
    }

    private static Workspace desk(Fields state) {
        List<Workspace.Todo> todos = state.each("todos", ThreadReader::todo);
        if (todos.stream().map(Workspace.Todo::id).distinct().count() < todos.size()) {
            throw state.corrupt("two todos of one id");
        }
        Fields files = state.object("files");
        Index<Workspace.VirtualFile> index = Index.empty();
        for (String path : files.names()) {
            index = index.with(path, file(files.object(path)));
        }
        return new Workspace(todos, Optional.empty(), index);
    }

    private static Workspace.Todo todo(Object value, String place) {
        Fields row = Fields.of(value, place).only("id", "content", "status");
        String status = row.text("status");
        if (!Workspace.Todo.STATUSES.contains(status)) {
            throw row.corrupt("no such status: " + status);
        }
        return new Workspace.Todo(row.text("id"), row.text("content"), status);
    }

    private static Workspace.VirtualFile file(Fields file) {
        file.only("content", "created_at", "modified_at");
        List<String> lines = new ArrayList<>();
        for (Object line : file.list("content")) {
            if (!(line instanceof String text)) {
                throw file.corrupt("a line that is no string");
            }
            lines.add(text);
        }
        return new Workspace.VirtualFile(String.join("\n", lines), file.time("created_at"), file.time("modified_at"));
    }
}
