package dev.waymark.checkpoint;

import dev.waymark.conversation.Restoration;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.conversation.Workspace;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Usage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the {@code thread} format. */
final class ThreadReader {
    /** The calls that people were asked about, by the ids of the approvals. */
    private final Map<String, String> requests = new LinkedHashMap<>();

    private final List<Decision> decisions = new ArrayList<>();

    private ThreadReader() {}

    /** What a person said of a call. */
    private record Decision(CheckpointFields part, String approvalId, String callId, boolean approved) {
        /** Of a call that we asked about. It is told where the call went on to ask something, and not before. */
        boolean isOurs() {
            return approvalId.equals(callId);
        }
    }

    static CheckpointReader.Named read(CheckpointFields fields) {
        return new ThreadReader().named(fields);
    }

    private CheckpointReader.Named named(CheckpointFields fields) {
        fields.only("threadId", "step", "messages", "state", "interrupt", "createdAt", "updatedAt");
        Instant createdAt = fields.time("createdAt");
        Instant updatedAt = fields.time("updatedAt");
        int step = fields.count("step");
        Restoration conversation = new Restoration(createdAt, false)
                .turn(1, 0, Usage.NONE, updatedAt)
                .counted(step, 0)
                .updated(updatedAt)
                .desk(desk(fields.object("state").only("todos", "files")));
        List<Message> messages = fields.each("messages", this::row).stream()
                .flatMap(Optional::stream)
                .toList();
        Optional<String> interrupted = Optional.empty();
        if (fields.has("interrupt")) {
            CheckpointFields interrupt = fields.object("interrupt").only("toolCall", "step");
            CheckpointFields call = interrupt.object("toolCall").only("toolCallId", "toolName", "args");
            call.id("toolName");
            Json args = call.json("args");
            interrupt.count("step");
            String callId = call.id("toolCallId");
            if (decisions.stream()
                    .anyMatch(each -> each.approved() && each.callId().equals(callId))) {
                conversation.ranWith(callId, args);
            }
            conversation.pending(callId);
            interrupted = Optional.of(callId);
        }
        messages.forEach(message -> conversation.say(message, Optional.empty(), updatedAt));
        for (Decision decision : decisions) {
            decide(decision, conversation, interrupted);
        }
        return new CheckpointReader.Named(conversation, Optional.of(fields.id("threadId")));
    }

    /** What was decided of a call that has its result is past. */
    private static void decide(Decision decision, Restoration conversation, Optional<String> interrupted) {
        String callId = decision.callId();
        if (!conversation.hasCall(callId)) {
            throw decision.part().corrupt("a decision about no call: " + callId);
        }
        if (conversation.openCall(callId).isEmpty()) {
            return;
        }
        if (!decision.approved()) {
            throw decision.part().corrupt("a call that was denied has no result");
        }
        conversation.approved(callId);
        if (decision.isOurs() || interrupted.filter(callId::equals).isPresent()) {
            conversation.asked(callId);
        }
    }

    /** A row that only tells of decisions says nothing. */
    private Optional<Message> row(Object value, String place) {
        CheckpointFields row = CheckpointFields.of(value, place);
        if (!row.text("role").equals("tool")) {
            return Optional.of(message(row));
        }
        List<Part> results = new ArrayList<>();
        List<CheckpointFields> parts = row.only("role", "content").each("content", CheckpointFields::of);
        for (CheckpointFields part : parts) {
            if (part.text("type").equals("tool-approval-response")) {
                decisions.add(decision(part));
            } else {
                results.add(result(part));
            }
        }
        return results.isEmpty() && !parts.isEmpty() ? Optional.empty() : Optional.of(new Message(Role.USER, results));
    }

    private Decision decision(CheckpointFields part) {
        part.only("type", "approvalId", "approved", "reason").optionalText("reason");
        String approvalId = part.id("approvalId");
        String callId = requests.get(approvalId);
        if (callId == null) {
            throw part.corrupt("a decision that nobody was asked for: " + approvalId);
        }
        return new Decision(part, approvalId, callId, part.flag("approved"));
    }

    private Message message(CheckpointFields row) {
        row.only("role", "content");
        return switch (row.text("role")) {
            case "user" -> Message.user(row.text("content"));
            case "assistant" ->
                row.value("content") instanceof String text
                        ? new Message(Role.ASSISTANT, List.of(new Part.Text(text)))
                        : new Message(
                                Role.ASSISTANT,
                                row.each("content", this::part).stream()
                                        .flatMap(Optional::stream)
                                        .toList());
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
    }

    private Optional<Part> part(Object value, String place) {
        CheckpointFields part = CheckpointFields.of(value, place);
        return switch (part.text("type")) {
            case "text" -> Optional.of(new Part.Text(part.only("type", "text").text("text")));
            case "tool-call" -> {
                part.only("type", "toolCallId", "toolName", "input");
                yield Optional.of(new Part.ToolUse(part.id("toolCallId"), part.id("toolName"), part.json("input")));
            }
            case "tool-approval-request" -> {
                part.only("type", "approvalId", "toolCallId");
                if (requests.putIfAbsent(part.id("approvalId"), part.id("toolCallId")) != null) {
                    throw part.corrupt("two approvals of one id: " + part.id("approvalId"));
                }
                yield Optional.empty();
            }
            default -> throw part.corrupt("no such part: " + part.text("type"));
        };
    }

    private static Part.ToolResult result(CheckpointFields part) {
        part.only("type", "toolCallId", "toolName", "output");
        if (!part.text("type").equals("tool-result")) {
            throw part.corrupt("no such part: " + part.text("type"));
        }
        part.text("toolName");
        CheckpointFields output = part.object("output").only("type", "value");
        boolean isError = output.text("type").equals("error-text");
        if (!isError && !output.text("type").equals("text")) {
            throw output.corrupt("no such output: " + output.text("type"));
        }
        String text = output.text("value");
        return new Part.ToolResult(part.id("toolCallId"), text, isError || ToolTexts.isFailure(text));
    }

    private static Workspace desk(CheckpointFields state) {
        List<Workspace.Todo> todos = state.each("todos", ThreadReader::todo);
        if (todos.stream().map(Workspace.Todo::id).distinct().count() < todos.size()) {
            throw state.corrupt("two todos of one id");
        }
        CheckpointFields files = state.object("files");
        PersistentMap<Workspace.VirtualFile> index = PersistentMap.empty();
        for (String path : files.names()) {
            index = index.with(path, file(files.object(path)));
        }
        return new Workspace(todos, Optional.empty(), index);
    }

    private static Workspace.Todo todo(Object value, String place) {
        CheckpointFields row = CheckpointFields.of(value, place).only("id", "content", "status");
        String status = row.text("status");
        if (!Workspace.Todo.STATUSES.contains(status)) {
            throw row.corrupt("no such status: " + status);
        }
        return new Workspace.Todo(row.text("id"), row.text("content"), status);
    }

    private static Workspace.VirtualFile file(CheckpointFields file) {
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
