package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.timeline.Timeline;
import dev.waymark.timeline.Version;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The {@code session} format: a session, its newest checkpoint and its tool call log. The {@code versions} format has
 * all checkpoints of the session.
 *
 * <p>It cannot represent images. The status is the status of the newest turn.
 */
public final class SessionCheckpoint {
    /** The carried value with the idempotency keys that do not follow our rule, by call id. */
    static final String OTHER_KEYS = "idempotency_keys";

    /** The carried value with the starts of calls that the log of the file shows as begun, by call id. */
    static final String STARTS = "started_at";

    private static final String ISSUED = "issued";
    private static final String FAILED = "failed";

    private SessionCheckpoint() {}

    public static Json of(Timeline timeline) {
        Map<String, Object> document = log(timeline);
        document.put("checkpoint", checkpoint(timeline, timeline.now(), new IdentityHashMap<>()));
        // The format lists the tool calls last.
        document.put("tool_calls", document.remove("tool_calls"));
        return Json.of(document);
    }

    /** The session and its tool call log, without a checkpoint. Both may change between two versions. */
    public static Json logOf(Timeline timeline) {
        return Json.of(log(timeline));
    }

    private static Map<String, Object> log(Timeline timeline) {
        Conversation state = timeline.now();
        String sessionId = state.session().orElse(timeline.thread());
        Map<String, Object> session = new LinkedHashMap<>();
        session.put("session_id", sessionId);
        session.put("created_at", Timestamps.iso(state.createdAt()));
        session.put("updated_at", Timestamps.iso(state.updatedAt()));
        session.put("status", status(timeline));
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("session", session);
        document.put("tool_calls", toolCalls(sessionId, state));
        return document;
    }

    /**
     * The checkpoints of all versions in history, oldest first. Each has the whole transcript, so they are created one
     * by one, from shared rows.
     */
    public static Stream<Json> versions(Timeline timeline) {
        return versions(timeline, timeline.versions());
    }

    /** The checkpoint of the newest version; empty if there is no version. */
    public static Stream<Json> newestVersion(Timeline timeline) {
        List<Version> versions = timeline.versions();
        return versions(timeline, versions.subList(Math.max(0, versions.size() - 1), versions.size()));
    }

    private static Stream<Json> versions(Timeline timeline, List<Version> versions) {
        Map<Transcript.Entry, Json> rows = new IdentityHashMap<>();
        return versions.stream().map(version -> Json.of(checkpoint(timeline, version.state(), rows)));
    }

    private static String status(Timeline timeline) {
        boolean over = timeline.ending().isPresent();
        return switch (timeline.now().turn().status()) {
            case NONE -> "active";
            case RUNNING -> over ? "failed" : "active";
            case COMPLETE, CUT -> "completed";
            case FAILED, MAX_ITERATIONS, BUDGET -> "failed";
            case STOPPED, CANCELLED -> "cancelled";
        };
    }

    private static Map<String, Object> checkpoint(
            Timeline timeline, Conversation state, Map<Transcript.Entry, Json> rows) {
        Map<String, Object> checkpoint = new LinkedHashMap<>();
        checkpoint.put("version", state.counters().versions());
        checkpoint.put("created_at", Timestamps.iso(state.updatedAt()));
        List<Object> transcript = new ArrayList<>();
        List<Transcript.Entry> entries = CheckpointMessages.entries(state);
        timeline.instructions().ifPresent(words -> transcript.add(instructions(words, entries, state.createdAt())));
        entries.forEach(entry -> transcript.add(row(entry, state, rows)));
        checkpoint.put("transcript", transcript);
        checkpoint.put(
                "plan", state.workspace().plan().map(SessionCheckpoint::plan).orElse(null));
        checkpoint.put("budget_spent_usd", Extras.of(state).cost());
        return checkpoint;
    }

    private static Map<String, Object> instructions(String words, List<Transcript.Entry> entries, Instant at) {
        Set<String> used = entries.stream().map(Transcript.Entry::id).collect(Collectors.toSet());
        String id = "m0";
        while (used.contains(id)) {
            id += "0"; // Other programs may have a message with this id.
        }
        return row(id, "system", at, List.of(new Part.Text(words)));
    }

    /**
     * The row of a message. Its calls have the arguments that they run with, which an approval may have changed: if the
     * transcript contradicted the log, a reader would take the file for corrupt.
     */
    private static Json row(Transcript.Entry entry, Conversation state, Map<Transcript.Entry, Json> rows) {
        List<Part> content = entry.message().content();
        List<Part> run = content.stream().map(part -> asRun(part, state)).toList();
        return run.equals(content) ? rows.computeIfAbsent(entry, same -> row(same, content)) : row(entry, run);
    }

    private static Part asRun(Part part, Conversation state) {
        return part instanceof Part.ToolUse use
                ? state.calls()
                        .get(use.id())
                        .filter(call -> call.digest().isEmpty())
                        .map(call -> new Part.ToolUse(use.id(), use.name(), call.args()))
                        .orElse(use)
                : part;
    }

    private static Json row(Transcript.Entry entry, List<Part> content) {
        return Json.of(row(entry.id(), entry.message().role().wireName(), entry.at(), content));
    }

    private static Map<String, Object> row(String id, String role, Instant at, List<Part> content) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", id);
        row.put("role", role);
        row.put("created_at", Timestamps.iso(at));
        List<Map<String, Object>> blocks = content.stream()
                .map(SessionCheckpoint::block)
                .flatMap(Optional::stream)
                .toList();
        // A message that has only images would have no blocks.
        row.put("blocks", blocks.isEmpty() ? List.of(block(new Part.Text("")).orElseThrow()) : blocks);
        return row;
    }

    private static Optional<Map<String, Object>> block(Part part) {
        Map<String, Object> block = new LinkedHashMap<>();
        if (part instanceof Part.Text text) {
            block.put("kind", "text");
            block.put("text", text.text());
        } else if (part instanceof Part.Reasoning reasoning) {
            block.put("kind", "reasoning");
            block.put("text", reasoning.text());
            block.put("metadata", reasoning.metadata());
        } else if (part instanceof Part.ToolUse use) {
            block.put("kind", "tool_call");
            block.put("id", use.id());
            block.put("name", use.name());
            block.put("args", FileArguments.written(use.input()));
        } else if (part instanceof Part.ToolResult result) {
            block.put("kind", "tool_result");
            block.put("call_id", result.toolUseId());
            block.put("content", result.content());
            block.put("is_error", result.isError());
        }
        return block.isEmpty() ? Optional.empty() : Optional.of(block);
    }

    private static Map<String, Object> plan(Workspace.Plan plan) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("goal", plan.goal());
        List<Object> steps = new ArrayList<>();
        for (Workspace.PlanStep step : plan.steps()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("id", step.id());
            row.put("description", step.description());
            row.put("status", step.status());
            steps.add(row);
        }
        tree.put("steps", steps);
        return tree;
    }

    /** The rows of the tool call log, in the order of the calls. */
    private static List<Object> toolCalls(String sessionId, Conversation state) {
        List<Transcript.Entry> entries = CheckpointMessages.entries(state);
        Map<String, Integer> order = new LinkedHashMap<>();
        Map<String, Instant> issued = new LinkedHashMap<>();
        for (Transcript.Entry entry : entries) {
            for (Part.ToolUse use : entry.message().toolUses()) {
                order.put(use.id(), order.size() + 1);
                issued.put(use.id(), entry.at());
            }
        }
        Map<String, Part.ToolResult> results = CheckpointMessages.results(
                entries.stream().map(Transcript.Entry::message).toList());
        List<Call> calls = new ArrayList<>();
        state.calls().forEach((id, call) -> {
            // Without its arguments, which were deleted, the call's idempotency key cannot be computed.
            if (call.digest().isEmpty() && isLogged(state, call)) {
                calls.add(call);
            }
        });
        calls.sort(Comparator.<Call>comparingInt(call -> order.getOrDefault(call.id(), 0))
                .thenComparing(Call::since));
        List<Object> rows = new ArrayList<>();
        for (Call call : calls) {
            rows.add(toolCall(
                    sessionId,
                    state,
                    call,
                    issued.getOrDefault(call.id(), call.since()),
                    Optional.ofNullable(results.get(call.id()))));
        }
        return rows;
    }

    /**
     * Whether the log has a row for the call. The author's query takes every {@code issued} row for a call that was
     * interrupted, so a call that no worker has received yet has none. A call of a file that has no row there gets one
     * as soon as the agent's tools show that it may have run.
     */
    private static boolean isLogged(Conversation state, Call call) {
        return !call.isOpen()
                || call.dispatches() > 0
                || call.claim().isPresent()
                || (call.wasBegun() && state.policy().isPresent())
                || Extras.of(state).object(STARTS).containsKey(call.id());
    }

    private static Map<String, Object> toolCall(
            String sessionId, Conversation state, Call call, Instant startedAt, Optional<Part.ToolResult> said) {
        // For a call that was read from a file, only the result shows whether it failed.
        boolean failed = said.filter(Part.ToolResult::isError).isPresent();
        String status = failed && !call.isOutcomeUnknown() ? FAILED : status(call.status());
        boolean isOver = !status.equals(ISSUED);
        Optional<String> result = said.map(Part.ToolResult::content)
                .or(() -> state.effects().flatMap(effects -> effects.resultOf(call)))
                .filter(text -> isOver);
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("session_id", sessionId);
        row.put("call_id", call.id());
        row.put("tool_name", call.tool());
        row.put("args_json", FileArguments.written(call.args()).canonical());
        row.put("idempotency_key", key(sessionId, state, call));
        row.put("status", status);
        row.put("result_text", result.orElse(null));
        row.put(
                "started_at",
                Extras.of(state).object(STARTS).get(call.id()) instanceof String known
                        ? known
                        : Timestamps.iso(startedAt));
        row.put("completed_at", isOver ? Timestamps.iso(call.since()) : null);
        return row;
    }

    private static String key(String sessionId, Conversation state, Call call) {
        return Extras.of(state).object(OTHER_KEYS).get(call.id()) instanceof String key
                ? key
                : IdempotencyKey.of(sessionId, call.tool(), call.args(), state.repeatOf(call));
    }

    /** The status in the log. A call is issued until its outcome is known, even if its turn continues without it. */
    private static String status(Call.Status status) {
        return switch (status) {
            case ISSUED,
                    HELD,
                    JUDGING,
                    AWAITING,
                    DISPATCHED,
                    CLAIMED,
                    REMOTE,
                    FOLLOWING,
                    DELEGATED,
                    UNKNOWN,
                    DOUBTED,
                    VERIFYING,
                    UNSETTLED,
                    ASKING,
                    LOST -> ISSUED;
            case COMPLETED -> "completed";
            case FAILED, DENIED, CANCELLED -> FAILED;
        };
    }
}
