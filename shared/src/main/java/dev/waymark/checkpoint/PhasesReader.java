package dev.waymark.checkpoint;

import dev.waymark.conversation.Restoration;
import dev.waymark.conversation.ToolTexts;
import dev.waymark.conversation.Turn;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the {@code phases} format: a record, a snapshot, or a chain, of which the newest snapshot counts, or the end of
 * the run where it has ended.
 */
final class PhasesReader {
    private static final String SNAPSHOT = "runtime_state";
    private static final Set<String> PHASES = Set.of(
            "run_started",
            "step_started",
            "pre_llm",
            "post_llm",
            "pre_tool_batch",
            "post_tool_batch",
            "pre_subagent_batch",
            "post_subagent_batch",
            "paused",
            "resumed",
            SNAPSHOT,
            "run_terminal");
    private static final Map<String, Set<String>> MOVES = Map.of(
            "pending", Set.of("running", "cancelled", "failed"),
            "running", Set.of("paused", "cancelling", "cancelled", "degraded", "failed", "completed"),
            "paused", Set.of("running", "cancelling", "cancelled", "failed"),
            "cancelling", Set.of("cancelled", "failed"),
            "degraded", Set.of("failed", "completed"),
            "cancelled", Set.of(),
            "failed", Set.of(),
            "completed", Set.of());

    private final Json document;
    private final Instant now;
    private String agent = "";
    /** What a person is asked, as far as the chain tells, and since when: what happened later may have answered it. */
    private String prompt = "";

    private Instant promptAt = Instant.EPOCH;

    private PhasesReader(Json document, Instant now) {
        this.document = document;
        this.now = now;
    }

    static RestoredCheckpoint record(Json document, Instant now) {
        CheckpointFields fields = CheckpointFields.of(document, "");
        PhasesReader reader = new PhasesReader(document, now);
        if (!fields.has("phase")) {
            return reader.recovered(fields, Optional.empty(), Optional.empty(), Optional.empty(), now);
        }
        return reader.read(List.of(normalised(Objects.requireNonNull(document.value()), "")));
    }

    static RestoredCheckpoint chain(Json document, Instant now) {
        return new PhasesReader(document, now)
                .read(CheckpointFields.each(
                        (List<?>) Objects.requireNonNull(document.value()), "", PhasesReader::normalised));
    }

    /** One record. The names that it had in earlier versions are taken where the new one is not there. */
    private record Entry(
            CheckpointFields fields,
            String runId,
            Optional<String> thread,
            int step,
            String phase,
            Instant at,
            CheckpointFields payload) {}

    private static Entry normalised(Object value, String place) {
        Map<String, Object> tree = new LinkedHashMap<>();
        CheckpointFields raw = CheckpointFields.of(value, place);
        raw.names().forEach(name -> tree.put(name, raw.value(name)));
        adopt(tree, "schema_version", "schemaVersion");
        adopt(tree, "schema_version", "version");
        adopt(tree, "run_id", "runId");
        adopt(tree, "thread_id", "threadId");
        adopt(tree, "payload", "data");
        CheckpointFields fields = CheckpointFields.of(tree, place)
                .only("schema_version", "run_id", "thread_id", "step", "phase", "timestamp_ms", "payload", "effects");
        if (fields.has("schema_version") && !"v1".equals(fields.value("schema_version"))) {
            throw fields.corrupt("no such schema_version: " + fields.value("schema_version"));
        }
        String phase = fields.text("phase");
        if (!PHASES.contains(phase)) {
            throw fields.corrupt("no such phase: " + phase);
        }
        int step = fields.has("step") ? fields.count("step") : 0;
        long millis = fields.total("timestamp_ms");
        if (millis > 253_402_300_799_999L) {
            throw fields.corrupt("\"timestamp_ms\" is no time");
        }
        return new Entry(
                fields,
                fields.id("run_id"),
                Optional.of(fields.id("thread_id")),
                step,
                phase,
                Instant.ofEpochMilli(millis),
                fields.object("payload"));
    }

    private static void adopt(Map<String, Object> tree, String name, String legacy) {
        if (tree.containsKey(legacy)) {
            Object value = tree.remove(legacy);
            tree.putIfAbsent(name, value);
        }
    }

    private RestoredCheckpoint read(List<Entry> entries) {
        Entry first = entries.get(0);
        Entry snapshot = null;
        Entry last = first;
        String state = "";
        for (Entry entry : entries) {
            if (!entry.runId().equals(first.runId()) || !entry.thread().equals(first.thread())) {
                throw entry.fields().corrupt("a record of another run");
            }
            if (entry.at().isBefore(last.at())) {
                throw entry.fields().corrupt("a record that is older than the one before");
            }
            if (entry.phase().equals("run_started")) {
                agent = entry.payload().optionalText("agent_name").orElse("");
            }
            if (entry.phase().equals("paused")
                    && "user_input".equals(entry.payload().value("kind"))) {
                prompt = entry.payload().optionalText("prompt").orElse("");
                promptAt = entry.at();
            } else if (entry.phase().equals("paused") || entry.phase().equals("resumed")) {
                prompt = "";
            }
            if (entry.payload().has("state")) {
                state = moved(entry, state);
            }
            if (entry.payload().has("llm_calls")) {
                snapshot = entry;
            }
            last = entry;
        }
        if (last.phase().equals("run_terminal")) {
            return terminal(last, Optional.ofNullable(snapshot));
        }
        if (snapshot == null) {
            throw last.fields().corrupt("no snapshot to go on from");
        }
        return recovered(
                snapshot.payload(),
                snapshot.thread(),
                Optional.of(snapshot.runId()),
                snapshot.fields().has("effects") ? Optional.of(snapshot.fields().object("effects")) : Optional.empty(),
                snapshot.at());
    }

    private static String moved(Entry entry, String before) {
        String state = entry.payload().text("state");
        if (!MOVES.containsKey(state)) {
            throw entry.payload().corrupt("no such state: " + state);
        }
        if (!before.isEmpty()
                && !before.equals(state)
                && !Objects.requireNonNull(MOVES.get(before)).contains(state)) {
            throw entry.payload().corrupt("no way from " + before + " to " + state);
        }
        return state;
    }

    /** A run that has ended: what it came to, and what was said as far as a snapshot has it. */
    private RestoredCheckpoint terminal(Entry end, Optional<Entry> snapshot) {
        CheckpointFields result = end.payload().object("terminal_result");
        String state = end.payload().text("state");
        if (!state.equals("completed") && !state.equals("failed") && !state.equals("cancelled")) {
            throw end.payload().corrupt("a run does not end " + state);
        }
        String text = result.optionalText("final_text").orElse("");
        Restoration conversation;
        if (snapshot.isPresent()) {
            Entry entry = snapshot.get();
            conversation = conversation(
                    entry.payload(),
                    Optional.of(entry.runId()),
                    entry.fields().has("effects") ? Optional.of(entry.fields().object("effects")) : Optional.empty(),
                    end.at());
        } else {
            CheckpointFields numbers = result.object("state_snapshot");
            conversation = new Restoration(end.at(), false)
                    .turn(turnOf(Optional.of(end.runId())), numbers.count("llm_calls"), Usage.NONE, end.at())
                    .counted(numbers.count("step"), 0)
                    .cost(cost(result));
        }
        if (state.equals("completed")) {
            if (!text.isEmpty() && !text.equals(conversation.lastWords())) {
                conversation.say(new Message(Role.ASSISTANT, List.of(new Part.Text(text))), Optional.empty(), end.at());
            }
            conversation.standing(Turn.Status.COMPLETE, text, "");
            structured(result, conversation);
        } else {
            conversation.standing(
                    state.equals("failed") ? Turn.Status.FAILED : Turn.Status.CANCELLED,
                    text,
                    end.payload().optionalText("message").orElse(""));
        }
        conversation.agent(agent).updated(end.at());
        return new RestoredCheckpoint(CheckpointFormat.PHASES, document, conversation.restore(), end.thread());
    }

    private RestoredCheckpoint recovered(
            CheckpointFields payload,
            Optional<String> thread,
            Optional<String> runId,
            Optional<CheckpointFields> effects,
            Instant at) {
        Restoration conversation =
                conversation(payload, runId, effects, at).agent(agent).updated(at);
        return new RestoredCheckpoint(CheckpointFormat.PHASES, document, conversation.restore(), thread);
    }

    // ---- snapshots

    private Restoration conversation(
            CheckpointFields payload, Optional<String> runId, Optional<CheckpointFields> effects, Instant at) {
        CheckpointFields usage = payload.object("usage");
        Usage used = new Usage(usage.total("input_tokens"), usage.total("output_tokens"));
        double startedAt = payload.number("started_at_s");
        if (startedAt < 0 || startedAt > 253_402_300_799.0) {
            throw payload.corrupt("\"started_at_s\" is no time");
        }
        int turn = turnOf(runId);
        Restoration conversation = new Restoration(at, false)
                .turn(turn, payload.count("llm_calls"), used, Timestamps.ofSeconds(startedAt))
                .counted(payload.count("step"), 0)
                .cost(cost(payload));
        Map<String, Boolean> outcomes = outcomes(payload);
        payload.each("messages", CheckpointFields::of).forEach(row -> say(row, outcomes, conversation, at));
        boolean pendingReply = payload.has("pending_llm_response") && !payload.isNull("pending_llm_response");
        if (pendingReply) {
            reply(payload.object("pending_llm_response"), conversation, at);
        }
        int replayed = effects.map(rows -> replay(rows, conversation, at)).orElse(0);
        switch (payload.text("state")) {
            case "paused" -> {
                // A reply that is not pending any more had its calls begun, and so these have run as far as they can.
                if (pendingReply) {
                    conversation.paused();
                } else {
                    conversation.allAsked();
                }
                conversation.prompt(at.isAfter(promptAt) ? "" : prompt);
            }
            case "failed" -> conversation.standing(Turn.Status.FAILED, "", "the run failed");
            case "cancelled", "cancelling" -> conversation.standing(Turn.Status.CANCELLED, "", "the run was cancelled");
            case "completed" -> {
                conversation.standing(
                        Turn.Status.COMPLETE, payload.optionalText("final_text").orElse(""), "");
                structured(payload, conversation);
            }
            case "pending", "running", "degraded" -> {
                if (pendingReply) {
                    conversation.untouched();
                }
            }
            default -> throw payload.corrupt("no such state: " + payload.text("state"));
        }
        if (payload.has("context") && !payload.isNull("context")) {
            Json context = payload.json("context");
            if (!context.isObject()) {
                throw payload.corrupt("\"context\" is no object");
            }
            conversation.context(context);
        }
        conversation.extras(extras(payload, replayed, conversation.callsOfTurn(turn)));
        return conversation;
    }

    private static void structured(CheckpointFields end, Restoration conversation) {
        if (end.has("final_structured") && !end.isNull("final_structured")) {
            conversation.structured(end.json("final_structured"));
        }
    }

    private static double cost(CheckpointFields payload) {
        double dollars = payload.isNull("total_cost_usd") ? 0 : payload.number("total_cost_usd");
        if (dollars < 0) {
            throw payload.corrupt("\"total_cost_usd\" is negative");
        }
        return dollars;
    }

    private static int turnOf(Optional<String> runId) {
        String suffix = runId.map(id -> id.substring(id.lastIndexOf(':') + 1)).orElse("");
        return suffix.matches("[1-9]\\d{0,8}") && runId.orElse("").contains(":") ? Integer.parseInt(suffix) : 1;
    }

    /** Whether each call succeeded, where the snapshot says. */
    private static Map<String, Boolean> outcomes(CheckpointFields payload) {
        Map<String, Boolean> outcomes = new LinkedHashMap<>();
        for (CheckpointFields row : payload.each("tool_executions", CheckpointFields::of)) {
            row.id("tool_name");
            if (!row.isNull("tool_call_id")) {
                outcomes.put(row.text("tool_call_id"), row.flag("success"));
            }
        }
        return outcomes;
    }

    private static void say(CheckpointFields row, Map<String, Boolean> outcomes, Restoration conversation, Instant at) {
        row.only("role", "content", "name", "tool_calls", "tool_call_id");
        Optional<String> name = row.optionalText("name");
        boolean calls = row.has("tool_calls")
                && !row.isNull("tool_calls")
                && !row.list("tool_calls").isEmpty();
        if (calls && !row.text("role").equals("assistant")) {
            throw row.corrupt("calls on another side than the assistant's");
        }
        Message message = switch (row.text("role")) {
            case "system" -> new Message(Role.USER, List.of());
            case "user" -> Message.user(row.text("content"));
            case "assistant" ->
                assistant(row.text("content"), calls ? row.each("tool_calls", PhasesReader::call) : List.of());
            case "tool" -> {
                String text = row.text("content");
                if (row.isNull("tool_call_id")) {
                    // No provider takes a result of no call.
                    yield Message.user("[result of " + name.orElse("a tool") + "] " + text);
                }
                String id = row.id("tool_call_id");
                boolean failed = Optional.ofNullable(outcomes.get(id))
                        .map(success -> !success)
                        .orElseGet(() -> ToolTexts.isFailure(text));
                yield Message.results(List.of(new Part.ToolResult(id, text, failed)));
            }
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
        if (!message.content().isEmpty()) {
            conversation.say(message, Optional.empty(), at);
        }
    }

    private static Message assistant(String text, List<Part.ToolUse> calls) {
        List<Part> parts = new ArrayList<>();
        if (!text.isEmpty() || calls.isEmpty()) {
            parts.add(new Part.Text(text));
        }
        parts.addAll(calls);
        return new Message(Role.ASSISTANT, parts);
    }

    private static Part.ToolUse call(Object value, String place) {
        CheckpointFields call = CheckpointFields.of(value, place).only("id", "tool_name", "arguments");
        return new Part.ToolUse(call.id("id"), call.id("tool_name"), call.json("arguments"));
    }

    private static void reply(CheckpointFields reply, Restoration conversation, Instant at) {
        reply.only("text", "request_id", "finish_reason", "model", "usage", "tool_calls");
        reply.optionalText("request_id");
        reply.optionalText("finish_reason");
        reply.optionalText("model");
        if (!reply.isNull("usage")) {
            CheckpointFields usage = reply.object("usage");
            usage.total("input_tokens");
            usage.total("output_tokens");
        }
        List<Part.ToolUse> calls = reply.each("tool_calls", PhasesReader::call);
        String text = reply.text("text");
        boolean saidAlready =
                !calls.isEmpty() && conversation.hasCall(calls.get(0).id());
        if (!saidAlready) {
            conversation.say(assistant(text, calls), Optional.empty(), at);
        } else if (!calls.stream().allMatch(call -> conversation.hasCall(call.id()))) {
            throw reply.corrupt("some of its calls stand among the messages, and some do not");
        }
    }

    /** Takes over results that were recorded beside the transcript. Returns how many there were. */
    private static int replay(CheckpointFields rows, Restoration conversation, Instant at) {
        int replayed = 0;
        for (String callId : rows.names()) {
            CheckpointFields row = rows.object(callId).only("input_hash", "output_hash", "output", "success");
            Part.ToolUse call =
                    conversation.openCall(callId).orElseThrow(() -> row.corrupt("an effect of no open call"));
            if (!row.text("input_hash").equals(PhasesCheckpoint.inputHash(call.name(), call.input()))) {
                throw row.corrupt("\"input_hash\" is not that of the call");
            }
            Json output = row.json("output");
            if (!row.text("output_hash").equals(PhasesCheckpoint.outputHash(output))) {
                throw row.corrupt("\"output_hash\" is not that of the output");
            }
            String text = output.value() instanceof String words ? words : output.canonical();
            conversation.answerIfOpen(callId, text, !row.flag("success"), at);
            replayed++;
        }
        return replayed;
    }

    private static Json extras(CheckpointFields payload, int replayed, int calls) {
        Map<String, Object> extras = new LinkedHashMap<>();
        keep(extras, payload, "session_token");
        keep(extras, payload, "checkpoint_token");
        keep(extras, payload, "tool_executions");
        keep(extras, payload, "subagent_executions");
        keep(extras, payload, "requested_model");
        keep(extras, payload, "normalized_model");
        keep(extras, payload, "provider_adapter");
        if (!payload.isNull("pending_llm_response")) {
            CheckpointFields reply = payload.object("pending_llm_response");
            Map<String, Object> rest = new LinkedHashMap<>();
            for (String name : List.of("request_id", "finish_reason", "model", "usage")) {
                rest.put(name, reply.value(name));
            }
            extras.put("pending_step", payload.count("step"));
            extras.put("pending_reply", rest);
        }
        int before = payload.has("replayed_effect_count") ? payload.count("replayed_effect_count") : 0;
        extras.put("replayed_effect_count", before + replayed);
        extras.put("tool_calls", payload.count("tool_calls") - calls);
        return Json.of(extras);
    }

    private static void keep(Map<String, Object> extras, CheckpointFields payload, String name) {
        @Nullable Object value = payload.value(name);
        if (value != null) {
            extras.put(name, value);
        }
    }
}
