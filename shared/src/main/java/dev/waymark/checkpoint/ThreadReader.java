package dev.waymark.checkpoint;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.rule.Restoration;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Usage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Reads the {@code thread} format. */
final class ThreadReader {
    private final CallIds ids = new CallIds();
    /** The calls that people were asked to approve, by approval id. */
    private final Map<String, Request> requests = new LinkedHashMap<>();
    /** The requests whose calls have not been found yet. */
    private List<Request> unfound = new ArrayList<>();

    private final List<Decision> decisions = new ArrayList<>();

    private ThreadReader() {}

    private static final class Request {
        private final CheckpointFields part;
        private final String callIdInFile;
        /** The unique id of the call, once all of its reply was read and if the messages have it. */
        private Optional<String> callId = Optional.empty();

        Request(CheckpointFields part) {
            this.part = part;
            this.callIdInFile = part.id("toolCallId");
        }
    }

    private record Decision(CheckpointFields part, String approvalId, Request request, boolean approved) {
        /** Whether Waymark wrote the decision. It does so only if the call asked a question after its approval. */
        boolean isOurs() {
            return request.callId.filter(approvalId::equals).isPresent();
        }

        boolean approves(String callId) {
            return approved && request.callId.filter(callId::equals).isPresent();
        }
    }

    static CheckpointReader.Named read(CheckpointFields fields) {
        return new ThreadReader().named(fields, fields.some("messages", CheckpointFields::of));
    }

    /** A thread whose conversation was cleared. */
    static CheckpointReader.Named readCleared(CheckpointFields fields) {
        return new ThreadReader().named(fields, List.of());
    }

    private CheckpointReader.Named named(CheckpointFields fields, List<CheckpointFields> rows) {
        Instant createdAt = fields.time("createdAt");
        Instant updatedAt = fields.time("updatedAt");
        int step = fields.count("step");
        Restoration conversation = Rules.restore(createdAt, false)
                .turn(1, 0, Usage.NONE, updatedAt)
                .counted(step, 0)
                .updated(updatedAt)
                .workspace(workspace(fields.object("state")));
        List<Message> messages = new ArrayList<>(
                rows.stream().map(this::row).flatMap(Optional::stream).toList());
        endReply();
        Optional<String> interrupted = fields.isNull("interrupt")
                ? Optional.empty()
                : Optional.of(interrupt(fields.object("interrupt"), messages, conversation));
        messages.forEach(message -> conversation.say(message, Optional.empty(), updatedAt));
        findRequestedCalls();
        for (Decision decision : decisions) {
            decide(decision, conversation, interrupted);
            requests.remove(decision.approvalId());
        }
        requests.values().forEach(request -> await(request, conversation));
        return new CheckpointReader.Named(conversation, Optional.of(fields.id("threadId")));
    }

    /**
     * Reads the call that waits for a person. A call that is missing from the messages is added to them. If its
     * arguments differ from those in the messages, a person must have approved them; otherwise it is corruption.
     */
    private String interrupt(CheckpointFields interrupt, List<Message> messages, Restoration conversation) {
        interrupt.count("step");
        CheckpointFields call = interrupt.object("toolCall");
        String tool = call.id("toolName");
        Json args = FileArguments.read(call, "args");
        Optional<String> given = Optional.of(call.id("toolCallId"));
        Optional<String> known = given.flatMap(ids::find);
        String callId = known.orElseGet(() -> ids.call(given, tool));
        Part.ToolUse use = new Part.ToolUse(callId, tool, args);
        Optional<Part.ToolUse> said = messages.stream()
                .flatMap(message -> message.toolUses().stream())
                .filter(each -> each.id().equals(callId))
                .findFirst();
        if (said.isEmpty()) {
            messages.add(new Message(Role.ASSISTANT, List.of(use)));
        } else if (!said.get().name().equals(tool)) {
            throw call.corrupt("\"toolName\" does not match the call");
        } else if (decisions.stream().anyMatch(each -> each.approves(callId))) {
            conversation.ranWith(callId, args);
        } else if (!said.get().equals(use)) {
            throw call.corrupt("\"args\" do not match the call");
        }
        conversation.pending(callId);
        return callId;
    }

    /** Lets a call wait for the approval that nobody has decided about. It has no effect on a call that has a result. */
    private static void await(Request request, Restoration conversation) {
        String callId = request.callId.orElseThrow(
                () -> request.part.corrupt("a request about an unknown call: " + request.callIdInFile));
        if (conversation.openCall(callId).isPresent()) {
            conversation.awaiting(callId);
        }
    }

    /** Applies a decision. It has no effect on a call that has a result already. */
    private static void decide(Decision decision, Restoration conversation, Optional<String> interrupted) {
        String callId = decision.request()
                .callId
                .orElseThrow(() -> decision.part()
                        .corrupt("a decision about an unknown call: " + decision.request().callIdInFile));
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

    /** The message of a row; empty for a row with decisions only. */
    private Optional<Message> row(CheckpointFields row) {
        row.checkThatCallsAreIn("\"content\", as parts of type \"tool-call\"");
        if (!row.text("role").equals("tool")) {
            return Optional.of(message(row));
        }
        List<Part> results = new ArrayList<>();
        List<CheckpointFields> parts = row.each("content", CheckpointFields::of);
        for (CheckpointFields part : parts) {
            if (part.text("type").equals("tool-approval-response")) {
                decisions.add(decision(part));
            } else {
                results.add(result(part));
            }
        }
        return results.isEmpty() && !parts.isEmpty() ? Optional.empty() : Optional.of(new Message(Role.USER, results));
    }

    private void endReply() {
        ids.endReply();
        findRequestedCalls();
    }

    /** Finds the calls of the requests that are new. A later reply may use their ids again. */
    private void findRequestedCalls() {
        for (Request request : unfound) {
            request.callId = ids.find(request.callIdInFile);
        }
        unfound = unfound.stream()
                .filter(request -> request.callId.isEmpty())
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private Decision decision(CheckpointFields part) {
        part.optionalText("reason");
        String approvalId = part.id("approvalId");
        Request request = requests.get(approvalId);
        if (request == null) {
            throw part.corrupt("a decision without a request: " + approvalId);
        }
        return new Decision(part, approvalId, request, part.flag("approved"));
    }

    private Message message(CheckpointFields row) {
        return switch (row.text("role")) {
            // The agent's own instructions are not among the messages, so a system message is a summary or part of the
            // conversation.
            case "system" -> Message.user(row.text("content"));
            case "user" ->
                row.value("content") instanceof String text
                        ? Message.user(text)
                        : new Message(Role.USER, row.each("content", ThreadParts::said));
            case "assistant" -> {
                endReply();
                ids.beginReply();
                yield row.value("content") instanceof String text
                        ? new Message(Role.ASSISTANT, List.of(new Part.Text(text)))
                        : new Message(
                                Role.ASSISTANT,
                                row.each("content", this::part).stream()
                                        .flatMap(Optional::stream)
                                        .toList());
            }
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
    }

    private Optional<Part> part(Object value, String place) {
        CheckpointFields part = CheckpointFields.of(value, place);
        return switch (part.text("type")) {
            case "text" -> Optional.of(new Part.Text(part.text("text")));
            case "reasoning" -> Optional.of(new Part.Reasoning(part.text("text"), Json.EMPTY_OBJECT));
            case "tool-call" -> {
                String tool = part.id("toolName");
                String callId = ids.call(Optional.of(part.id("toolCallId")), tool);
                yield Optional.of(new Part.ToolUse(callId, tool, FileArguments.read(part, "input")));
            }
            case "tool-approval-request" -> {
                Request request = new Request(part);
                if (requests.putIfAbsent(part.id("approvalId"), request) != null) {
                    throw part.corrupt("duplicate approval id: " + part.id("approvalId"));
                }
                unfound.add(request);
                yield Optional.empty();
            }
            default -> throw part.corrupt("no such part: " + part.text("type"));
        };
    }

    private Part.ToolResult result(CheckpointFields part) {
        if (!part.text("type").equals("tool-result")) {
            throw part.corrupt("no such part: " + part.text("type"));
        }
        String tool = part.text("toolName");
        String callId = ids.result(
                        Optional.of(part.id("toolCallId")), Optional.of(tool).filter(name -> !name.isEmpty()))
                .orElseThrow();
        return ThreadParts.output(part.object("output"), callId, tool);
    }

    private static Workspace workspace(CheckpointFields state) {
        List<Workspace.Todo> todos = state.each("todos", ThreadReader::todo);
        if (todos.stream().map(Workspace.Todo::id).distinct().count() < todos.size()) {
            throw state.corrupt("duplicate todo id");
        }
        CheckpointFields files = state.object("files");
        PersistentMap<Workspace.VirtualFile> index = PersistentMap.empty();
        for (String path : files.names()) {
            index = index.with(path, file(files.object(path)));
        }
        return new Workspace(todos, Optional.empty(), index);
    }

    private static Workspace.Todo todo(Object value, String place) {
        CheckpointFields row = CheckpointFields.of(value, place);
        String status = row.text("status");
        if (!Workspace.Todo.STATUSES.contains(status)) {
            throw row.corrupt("no such status: " + status);
        }
        return new Workspace.Todo(row.text("id"), row.text("content"), status);
    }

    private static Workspace.VirtualFile file(CheckpointFields file) {
        List<String> lines = new ArrayList<>();
        for (Object line : file.list("content")) {
            if (!(line instanceof String text)) {
                throw file.corrupt("a line that is not a string");
            }
            lines.add(text);
        }
        return new Workspace.VirtualFile(String.join("\n", lines), file.time("created_at"), file.time("modified_at"));
    }
}
