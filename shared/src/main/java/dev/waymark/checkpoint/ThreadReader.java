package dev.waymark.checkpoint;

import dev.waymark.conversation.Index;
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
        fields.each("messages", ThreadReader::message)
                .forEach(message -> conversation.say(message, Optional.empty(), updatedAt));
        if (fields.has("interrupt")) {
            Fields interrupt = fields.object("interrupt").only("toolCall", "step");
            Fields call = interrupt.object("toolCall").only("toolCallId", "toolName", "args");
            call.id("toolName");
            call.json("args");
            interrupt.count("step");
            conversation.pending(call.id("toolCallId"));
        }
        return new CheckpointReader.Named(conversation, Optional.of(fields.id("threadId")));
    }

    private static Message message(Object value, String place) {
        Fields row = Fields.of(value, place).only("role", "content");
        return switch (row.text("role")) {
            case "user" -> Message.user(row.text("content"));
            case "assistant" ->
                row.value("content") instanceof String text
                        ? new Message(Role.ASSISTANT, List.of(new Part.Text(text)))
                        : new Message(Role.ASSISTANT, row.each("content", ThreadReader::part));
            case "tool" -> Message.results(row.each("content", ThreadReader::result));
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
    }

    private static Part part(Object value, String place) {
        Fields part = Fields.of(value, place);
        return switch (part.text("type")) {
            case "text" -> new Part.Text(part.only("type", "text").text("text"));
            case "tool-call" -> {
                part.only("type", "toolCallId", "toolName", "input");
                yield new Part.ToolUse(part.id("toolCallId"), part.id("toolName"), part.json("input"));
            }
            default -> throw part.corrupt("no such part: " + part.text("type"));
        };
    }

    private static Part.ToolResult result(Object value, String place) {
        Fields part = Fields.of(value, place).only("type", "toolCallId", "toolName", "output");
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
