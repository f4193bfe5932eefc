package dev.waymark.checkpoint;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.rule.Restoration;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Usage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Reads the {@code session} format, and the newest checkpoint of the {@code versions} format. */
final class SessionReader {
    private static final int MOST_REPEATS = 100;

    private final Instant now;
    private final Set<String> messages = new HashSet<>();
    /** The results in the transcript, by call id. */
    private final Map<String, Part.ToolResult> results = new HashMap<>();

    private final CallIds ids;
    /** The idempotency keys that do not follow our rule, by call id. They are kept for later checkpoints. */
    private final Map<String, Object> otherKeys = new LinkedHashMap<>();

    /** The starts of calls whose outcome is unknown, and of ended calls that the transcript lacks, by call id. */
    private final Map<String, Object> starts = new LinkedHashMap<>();

    /** @param logged the ids of the calls in the log */
    private SessionReader(Instant now, Collection<String> logged) {
        this.now = now;
        this.ids = new CallIds(logged);
    }

    static CheckpointReader.Named session(CheckpointFields document, Instant now) {
        CheckpointFields session = document.object("session");
        String id = session.id("session_id");
        Instant createdAt = session.time("created_at");
        Restoration conversation = Rules.restore(createdAt, false).updated(session.time("updated_at"));
        Map<String, CheckpointFields> log = log(document);
        SessionReader reader = new SessionReader(now, log.keySet());
        reader.checkpoint(document.object("checkpoint"), conversation);
        log.values().forEach(row -> reader.toolCall(row, id, conversation));
        Map<String, Object> extras = new LinkedHashMap<>();
        if (!reader.otherKeys.isEmpty()) {
            extras.put(SessionCheckpoint.OTHER_KEYS, reader.otherKeys);
        }
        if (!reader.starts.isEmpty()) {
            extras.put(SessionCheckpoint.STARTS, reader.starts);
        }
        if (!extras.isEmpty()) {
            conversation.extras(Json.of(extras));
        }
        switch (session.text("status")) {
            case "active" -> {
                // The transcript determines the status of the turn.
            }
            case "completed" -> conversation.standing(Turn.Status.COMPLETE, conversation.lastWords(), "");
            case "failed" -> conversation.standing(Turn.Status.FAILED, "", "the session failed");
            case "cancelled" -> conversation.standing(Turn.Status.CANCELLED, "", "the session was cancelled");
            default -> throw session.corrupt("no such status: " + session.text("status"));
        }
        return new CheckpointReader.Named(conversation, Optional.of(id));
    }

    /** The rows of the tool call log, by call id. A log has one row for each call. */
    private static Map<String, CheckpointFields> log(CheckpointFields document) {
        Map<String, CheckpointFields> log = new LinkedHashMap<>();
        for (CheckpointFields row : document.each("tool_calls", CheckpointFields::of)) {
            if (log.putIfAbsent(row.id("call_id"), row) != null) {
                throw row.corrupt("the log has two rows for this call: " + row.id("call_id"));
            }
        }
        return log;
    }

    /**
     * Reads the newest version, which contains everything: the one with the highest number, as a database without an
     * order may return it. Earlier versions may have been deleted.
     */
    static CheckpointReader.Named versions(List<?> list, Instant now) {
        TreeMap<Integer, CheckpointFields> versions = new TreeMap<>();
        for (CheckpointFields checkpoint : CheckpointFields.each(list, "", CheckpointFields::of)) {
            if (versions.put(checkpoint.count("version"), checkpoint) != null) {
                throw checkpoint.corrupt("two versions have this number: " + checkpoint.count("version"));
            }
            // All versions must be valid, not only the newest.
            checkpoint.time("created_at");
            version(checkpoint, now);
        }
        return version(versions.lastEntry().getValue(), now);
    }

    /** Reads one version. A version loaded from a store has no time of its own. */
    static CheckpointReader.Named version(CheckpointFields checkpoint, Instant now) {
        SessionReader reader = new SessionReader(now, List.of());
        Instant at = reader.time(checkpoint);
        Restoration conversation =
                Rules.restore(began(checkpoint).orElse(at), false).updated(at);
        reader.checkpoint(checkpoint, conversation);
        return new CheckpointReader.Named(conversation, Optional.empty());
    }

    private Instant time(CheckpointFields checkpoint) {
        if (checkpoint.has("created_at")) {
            return checkpoint.time("created_at");
        }
        List<CheckpointFields> rows = checkpoint.each("transcript", CheckpointFields::of);
        return rows.isEmpty() ? now : rows.get(rows.size() - 1).time("created_at");
    }

    /** The start of the thread: the time of the instructions, if the transcript has any. */
    private static Optional<Instant> began(CheckpointFields checkpoint) {
        return checkpoint.each("transcript", CheckpointFields::of).stream()
                .filter(row -> row.text("role").equals("system"))
                .findFirst()
                .map(row -> row.time("created_at"));
    }

    private void checkpoint(CheckpointFields checkpoint, Restoration conversation) {
        Instant at = time(checkpoint);
        conversation.turn(1, 0, Usage.NONE, at).counted(0, checkpoint.count("version"));
        double spent = checkpoint.number("budget_spent_usd");
        if (spent < 0) {
            throw checkpoint.corrupt("\"budget_spent_usd\" is negative");
        }
        conversation.cost(spent);
        if (!checkpoint.isNull("plan")) {
            conversation.workspace(
                    new Workspace(List.of(), Optional.of(plan(checkpoint.object("plan"))), PersistentMap.empty()));
        }
        List<CheckpointFields> rows = checkpoint.each("transcript", CheckpointFields::of);
        for (int i = 0; i < rows.size(); i++) {
            say(rows.get(i), i == 0, conversation);
        }
        ids.endReply();
    }

    private void say(CheckpointFields row, boolean first, Restoration conversation) {
        row.checkThatCallsAreIn("\"blocks\", as blocks of kind \"tool_call\"");
        String role = row.text("role");
        if (role.equals("assistant")) {
            ids.beginReply();
        }
        Optional<String> id = Optional.of(row.id("id"));
        if (!messages.add(id.get())) {
            throw row.corrupt("two messages have this id: " + id.get());
        }
        Instant at = row.time("created_at");
        List<Part> parts = row.each("blocks", this::block);
        switch (role) {
            case "system" -> {
                // The first system message contains the instructions. The agent that continues has its own.
                if (!first) {
                    conversation.say(new Message(Role.USER, parts), id, at);
                }
            }
            case "user", "tool" -> conversation.say(new Message(Role.USER, parts), id, at);
            case "assistant" -> conversation.say(new Message(Role.ASSISTANT, parts), id, at);
            default -> throw row.corrupt("no such role: " + role);
        }
    }

    private Part block(Object value, String place) {
        CheckpointFields block = CheckpointFields.of(value, place);
        return switch (block.text("kind")) {
            case "text" -> new Part.Text(block.text("text"));
            case "reasoning" -> {
                Json metadata = block.isNull("metadata") ? Json.EMPTY_OBJECT : block.metadata("metadata");
                yield new Part.Reasoning(block.text("text"), metadata);
            }
            case "tool_call" -> {
                String tool = block.id("name");
                yield new Part.ToolUse(
                        ids.call(Optional.of(block.id("id")), tool), tool, FileArguments.read(block, "args"));
            }
            case "tool_result" -> {
                String callId = ids.result(Optional.of(block.id("call_id")), Optional.empty())
                        .orElseThrow();
                Part.ToolResult result =
                        new Part.ToolResult(callId, block.text("content"), block.optionalFlag("is_error"));
                results.put(callId, result);
                yield result;
            }
            default -> throw block.corrupt("unknown block kind: '" + block.text("kind") + "'");
        };
    }

    private static Workspace.Plan plan(CheckpointFields plan) {
        String goal = plan.has("goal") ? plan.text("goal") : "";
        return new Workspace.Plan(goal, plan.has("steps") ? plan.each("steps", SessionReader::step) : List.of());
    }

    private static Workspace.PlanStep step(Object value, String place) {
        CheckpointFields step = CheckpointFields.of(value, place);
        String status = step.text("status");
        if (!Workspace.PlanStep.STATUSES.contains(status)) {
            throw step.corrupt("no such status: " + status);
        }
        return new Workspace.PlanStep(step.text("id"), step.text("description"), status);
    }

    private static Json args(CheckpointFields row) {
        List<Json> args = CheckpointJson.read(row.text("args_json").getBytes(StandardCharsets.UTF_8));
        if (args.size() != 1) {
            throw row.corrupt("\"args_json\" must be one JSON value");
        }
        return FileArguments.checked(args.get(0), row, "args_json");
    }

    /** Reads a row of the tool call log. The transcript may lack its call: the log is written before the checkpoint. */
    private void toolCall(CheckpointFields row, String session, Restoration conversation) {
        if (!row.text("session_id").equals(session)) {
            throw row.corrupt("a call of another session: " + row.text("session_id"));
        }
        String callId = row.id("call_id");
        if (ids.isRepeated(callId)) {
            throw row.corrupt("the log has one row for several calls: " + callId);
        }
        String tool = row.id("tool_name");
        Json args = args(row);
        boolean isAhead = conversation.toolUse(callId).isEmpty();
        conversation.toolUse(callId).ifPresent(use -> {
            if (!use.name().equals(tool)) {
                throw row.corrupt("\"tool_name\" does not match the call");
            }
            if (!use.input().equals(args)) {
                throw row.corrupt("\"args_json\" does not match the call");
            }
        });
        Instant startedAt = row.time("started_at");
        Optional<Instant> completedAt =
                row.isNull("completed_at") ? Optional.empty() : Optional.of(row.time("completed_at"));
        Optional<String> result = row.optionalText("result_text");
        switch (row.text("status")) {
            case "issued" -> {
                conversation.rememberIssued(callId, tool, args, startedAt);
                starts.put(callId, Timestamps.iso(startedAt));
            }
            case "completed", "failed" -> {
                boolean succeeded = row.text("status").equals("completed");
                if (result.isEmpty() && conversation.openCall(callId).isPresent()) {
                    throw row.corrupt("\"result_text\" is missing");
                }
                Part.ToolResult said = results.get(callId);
                boolean differs = said != null
                        && (result.filter(text -> !text.equals(said.content())).isPresent()
                                || (succeeded && said.isError()));
                if (differs) {
                    throw row.corrupt("the result of the call differs from the transcript's: " + callId);
                }
                result.ifPresent(
                        text -> conversation.answerIfOpen(callId, text, !succeeded, completedAt.orElse(startedAt)));
                conversation.rememberEnded(callId, tool, args, result, succeeded, startedAt);
            }
            default -> throw row.corrupt("no such status: " + row.text("status"));
        }
        completedAt.ifPresent(at -> {
            conversation.endedAt(callId, at);
            if (isAhead && !at.equals(startedAt)) {
                starts.put(callId, Timestamps.iso(startedAt));
            }
        });
        String key = row.id("idempotency_key");
        // The number of earlier identical calls is derived from the key. The author of the file may have another rule.
        IdempotencyKey.repeatOf(key, session, tool, args, MOST_REPEATS)
                .ifPresentOrElse(repeat -> conversation.repeating(callId, repeat), () -> otherKeys.put(callId, key));
    }
}
