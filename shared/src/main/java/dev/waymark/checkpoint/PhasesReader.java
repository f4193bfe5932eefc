package dev.waymark.checkpoint;

import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.rule.Restoration;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Usage;
import dev.waymark.timeline.CheckpointFormat;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the {@code phases} format: a single record, a snapshot, or a chain. Of a chain, reads the newest snapshot and,
 * if the run has ended, the end record.
 */
final class PhasesReader {
    private static final double LAST_SECOND = 253_402_300_799.0;

    private final Json document;
    private final CheckpointFields payload;
    private final Optional<PhasesChain> chain;
    private final Instant at;
    private final Restoration conversation;
    private final CallIds ids;
    /** The calls of the newest reply that has calls, with their ids in the file. */
    private List<Part.ToolUse> newestCalls = List.of();

    /** Whether the newest reply has calls. If not, {@code newestCalls} are those of an earlier reply. */
    private boolean newestReplyCalls;

    /**
     * Whether the calls succeeded, by their id in the file, if the snapshot shows that: one entry for each result that
     * follows.
     */
    private Map<String, Deque<Optional<Boolean>>> outcomes = Map.of();

    /** Values that no rule uses. They are kept for later checkpoints. */
    private final Map<String, Object> extras = new LinkedHashMap<>();

    /** @param at the time of the messages, which have none in the file */
    private PhasesReader(Json document, CheckpointFields payload, Optional<PhasesChain> chain, Instant at) {
        this.document = document;
        this.payload = payload;
        this.chain = chain;
        this.at = at;
        this.conversation = Rules.restore(at, false);
        this.ids = new CallIds(knownIds(payload));
    }

    static RestoredCheckpoint record(Json document, Instant now) {
        CheckpointFields fields = CheckpointFields.of(document, "");
        if (fields.has("phase")) {
            return read(document, PhasesChain.of(List.of(document)));
        }
        PhasesReader reader = new PhasesReader(document, fields, Optional.empty(), now);
        RecordedEffects effects = new RecordedEffects();
        if (!fields.isNull("effects")) {
            effects.add(fields.object("effects"), fields.count("step"));
        }
        reader.snapshot(effects);
        reader.conversation.updated(now);
        return reader.restored(fields.optionalId("thread_id"));
    }

    /** Reads the result of a run that was stored without its record. */
    static RestoredCheckpoint result(Json document, Instant now) {
        CheckpointFields result = CheckpointFields.of(document, "");
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("run_id", result.id("run_id"));
        record.put("thread_id", result.id("thread_id"));
        record.put("phase", PhasesChain.LAST);
        record.put("timestamp_ms", now.toEpochMilli());
        record.put("payload", Map.of("terminal_result", document));
        return read(document, PhasesChain.of(List.of(Json.of(record))));
    }

    static RestoredCheckpoint chain(Json document) {
        return read(document, PhasesChain.of((List<?>) Objects.requireNonNull(document.value())));
    }

    private static RestoredCheckpoint read(Json document, PhasesChain chain) {
        RecordedEffects effects = chain.effects();
        Optional<PhasesChain.Entry> snapshot = chain.snapshot();
        if (snapshot.isEmpty() && chain.end().isEmpty()) {
            throw chain.last().corrupt("no snapshot to continue from");
        }
        PhasesChain.Entry begin = snapshot.or(chain::end).orElseThrow();
        PhasesReader reader = new PhasesReader(document, begin.payload(), Optional.of(chain), begin.at());
        if (snapshot.isPresent()) {
            reader.snapshot(effects);
        }
        chain.end().ifPresent(end -> reader.end(end, snapshot.isPresent()));
        reader.conversation
                .agent(chain.agent())
                .updated(chain.end().orElse(begin).at());
        return reader.restored(Optional.of(chain.thread()));
    }

    private RestoredCheckpoint restored(Optional<String> thread) {
        List<String> open = conversation.openCalls().stream()
                .map(Part.ToolUse::id)
                .filter(outcomes::containsKey)
                .toList();
        if (!open.isEmpty()) {
            extras.put("not_executed", open); // The outcomes under these ids belong to earlier calls.
        }
        conversation.extras(Json.of(extras));
        return new RestoredCheckpoint(CheckpointFormat.PHASES, document, conversation.restore(), thread);
    }

    private static List<String> knownIds(CheckpointFields payload) {
        List<Object> calls = new ArrayList<>();
        if (payload.value("messages") instanceof List<?> rows) {
            rows.forEach(row -> addCalls(row, calls));
        }
        addCalls(payload.value("pending_llm_response"), calls);
        return calls.stream()
                .map(call -> call instanceof Map<?, ?> one ? String.valueOf(one.get("id")) : "")
                .toList();
    }

    private static void addCalls(@Nullable Object row, List<Object> calls) {
        if (row instanceof Map<?, ?> map && map.get("tool_calls") instanceof List<?> some) {
            calls.addAll(some);
        }
    }

    /**
     * Reads the end record: the outcome of the run, and its numbers if the record has a usage or there is no snapshot.
     * Without a snapshot, the final text is the only message.
     */
    private void end(PhasesChain.Entry end, boolean hasSnapshot) {
        CheckpointFields result = end.payload().object("terminal_result");
        String state = end.payload().isNull("state")
                ? result.text("state")
                : end.payload().text("state");
        if (!result.isNull("state") && !state.equals(result.text("state"))) {
            throw result.corrupt("the state differs from the record's: " + result.text("state"));
        }
        if (hasSnapshot) {
            closeCalls(end);
        }
        if (!hasSnapshot || !result.isNull("usage_aggregate")) {
            numbers(result, end.at(), hasSnapshot);
        }
        String text = result.optionalText("final_text").orElse("");
        switch (state) {
            // A degraded run is complete, and its text says what is missing.
            case "completed", "degraded" -> {
                if (!text.isEmpty() && !text.equals(conversation.lastWords())) {
                    conversation.say(
                            new Message(Role.ASSISTANT, List.of(new Part.Text(text))), Optional.empty(), end.at());
                }
                conversation.standing(Turn.Status.COMPLETE, text, "");
                structured(result, "final_structured");
            }
            case "failed", "cancelled" ->
                conversation.standing(
                        state.equals("failed") ? Turn.Status.FAILED : Turn.Status.CANCELLED,
                        text,
                        end.payload().optionalText("message").orElse(""));
            default -> throw end.payload().corrupt("a run does not end " + state);
        }
    }

    /** Reads the numbers of a run. A result that was stored on its own may lack the counters. */
    private void numbers(CheckpointFields result, Instant end, boolean hasSnapshot) {
        Usage used = result.isNull("usage_aggregate") ? Usage.NONE : usage(result.object("usage_aggregate"));
        conversation.cost(cost(result));
        if (!hasSnapshot && result.isNull("state_snapshot")) {
            conversation.turn(turn(), 0, used, end);
            keep(result, 0, 0);
            return;
        }
        CheckpointFields numbers = result.object("state_snapshot");
        Instant began = numbers.isNull("started_at_s") ? end : began(numbers);
        conversation.turn(turn(), numbers.count("llm_calls"), used, began).counted(numbers.count("step"), 0);
        keep(result, numbers.count("tool_calls") - conversation.answeredCalls(), 0);
        keepReplays(numbers, 0);
    }

    /** Closes the snapshot's open calls that have an outcome in the end record. The other open calls may have run. */
    private void closeCalls(PhasesChain.Entry end) {
        List<CheckpointFields> known = executions(payload);
        List<CheckpointFields> rows = executions(end.payload().object("terminal_result"));
        for (Part.ToolUse use : conversation.openCalls()) {
            List<CheckpointFields> ofCall = ofCall(rows, use);
            if (ofCall.size() > ofCall(known, use).size()) {
                CheckpointFields row = ofCall.get(ofCall.size() - 1);
                checkThatOneIsMeant(row);
                boolean success = row.flag("success");
                String text = success
                        ? row.spelled("output")
                        : row.optionalText("error").orElseGet(() -> ToolTexts.failure("its message was not recorded"));
                conversation.answerIfOpen(use.id(), text, !success, end.at());
            }
        }
        conversation.allBegun();
    }

    private List<CheckpointFields> ofCall(List<CheckpointFields> executions, Part.ToolUse use) {
        return executions.stream()
                .filter(row -> row.optionalText("tool_call_id")
                        .filter(id -> ids.isNewest(id, use.id()))
                        .isPresent())
                .toList();
    }

    private void checkThatOneIsMeant(CheckpointFields execution) {
        String id = execution.text("tool_call_id");
        if (ids.isAmbiguous(id)) {
            throw execution.corrupt("several calls of the reply have this id: " + id);
        }
    }

    /** Checks that no execution is of an open call that shares its id with another call of its reply. */
    private void checkExecutions() {
        Map<String, Integer> rows = new HashMap<>();
        for (CheckpointFields row : executions(payload)) {
            Optional<String> id = row.optionalText("tool_call_id");
            if (id.isPresent() && rows.merge(id.get(), 1, Integer::sum) > ids.usesInEarlierReplies(id.get())) {
                checkThatOneIsMeant(row);
            }
        }
    }

    private void snapshot(RecordedEffects effects) {
        int step = payload.count("step");
        conversation
                .turn(turn(), payload.count("llm_calls"), usage(payload.object("usage")), began(payload))
                .counted(step, 0)
                .cost(cost(payload));
        List<CheckpointFields> rows = payload.some("messages", CheckpointFields::of);
        outcomes = outcomes(payload, rows);
        for (int i = 0; i < rows.size(); i++) {
            say(rows.get(i), i == 0);
        }
        int toolCalls = payload.count("tool_calls") - conversation.answeredCalls();
        boolean pendingReply = !payload.isNull("pending_llm_response");
        if (pendingReply) {
            reply(payload.object("pending_llm_response"));
        }
        ids.endReply();
        checkExecutions();
        chain.flatMap(newestReplyCalls ? PhasesChain::batchOfLaterReply : PhasesChain::batchSinceSnapshot)
                .filter(end -> conversation.openCalls().isEmpty())
                .ifPresent(end -> {
                    throw end.fields().corrupt("no snapshot has the calls of this batch");
                });
        int replayed = effects.replay(ids, conversation, step, at);
        standing(pendingReply);
        if (!payload.isNull("context")) {
            Json context = payload.json("context");
            if (!context.isObject()) {
                throw payload.corrupt("\"context\" is not an object");
            }
            conversation.context(context);
        }
        keep(payload, toolCalls, replayed);
        if (pendingReply) {
            keepReply(payload.object("pending_llm_response"), step);
        }
    }

    private void standing(boolean pendingReply) {
        switch (payload.text("state")) {
            case "paused" -> {
                // If the reply is no longer pending, every open call was started and has run up to its question.
                if (pendingReply) {
                    conversation.paused();
                } else {
                    conversation.allAsked();
                }
                chain.flatMap(PhasesChain::pause)
                        .filter(pause -> !pause.approval() && !at.isAfter(pause.at()))
                        .ifPresent(pause -> conversation.prompt(pause.words()));
            }
            case "failed" -> conversation.standing(Turn.Status.FAILED, "", "the run failed");
            case "cancelled", "cancelling" -> conversation.standing(Turn.Status.CANCELLED, "", "the run was cancelled");
            case "completed" -> {
                conversation.standing(
                        Turn.Status.COMPLETE, payload.optionalText("final_text").orElse(""), "");
                structured(payload, "final_structured");
            }
            case "pending", "running", "degraded" -> {
                // If the reply is no longer pending, its calls were started, even if the run waits for a person.
                if (pendingReply) {
                    chain.flatMap(PhasesChain::pauseSinceSnapshot)
                            .ifPresentOrElse(this::pause, conversation::untouched);
                }
            }
            default -> throw payload.corrupt("no such state: " + payload.text("state"));
        }
        if (chain.filter(PhasesChain::isBatchOver).isPresent()) {
            conversation.allBegun();
        }
    }

    /**
     * Marks the call that a pause is about as waiting. When a run waits for people, the other calls of the reply have
     * ended or wait too.
     */
    private void pause(PhasesChain.Pause pause) {
        List<Part.ToolUse> open = conversation.openCalls();
        Optional<Part.ToolUse> asking = open.stream()
                .filter(use -> pause.approval()
                        ? use.name().equals(pause.words())
                        : Optional.of(pause.words())
                                .equals(Optional.ofNullable(use.input().field("question"))))
                .findFirst()
                .or(() -> open.stream().findFirst());
        asking.ifPresent(use -> {
            conversation.pending(use.id());
            if (!pause.approval()) {
                conversation.prompt(pause.words());
            }
        });
        if (pause.another()) {
            open.stream().filter(use -> !Optional.of(use).equals(asking)).forEach(use -> conversation.begun(use.id()));
        }
    }

    private int turn() {
        String runId = chain.map(PhasesChain::runId).orElse("");
        String suffix = runId.substring(runId.lastIndexOf(':') + 1);
        return runId.contains(":") && suffix.matches("[1-9]\\d{0,8}") ? Integer.parseInt(suffix) : 1;
    }

    private static Usage usage(CheckpointFields usage) {
        return new Usage(usage.total("input_tokens"), usage.total("output_tokens"));
    }

    private static Instant began(CheckpointFields numbers) {
        double startedAt = numbers.number("started_at_s");
        if (startedAt < 0 || startedAt > LAST_SECOND) {
            throw numbers.corrupt("\"started_at_s\" is not a time");
        }
        return Timestamps.ofSeconds(startedAt);
    }

    private void structured(CheckpointFields fields, String name) {
        if (!fields.isNull(name)) {
            conversation.structured(fields.json(name));
        }
    }

    private static double cost(CheckpointFields payload) {
        double dollars = payload.isNull("total_cost_usd") ? 0 : payload.number("total_cost_usd");
        if (dollars < 0) {
            throw payload.corrupt("\"total_cost_usd\" is negative");
        }
        return dollars;
    }

    private static List<CheckpointFields> executions(CheckpointFields payload) {
        return payload.each("tool_executions", CheckpointFields::of);
    }

    /**
     * Calls of one id have their rows and their results in the same order. If there are fewer rows than results, the
     * rows of the first results are missing.
     */
    private static Map<String, Deque<Optional<Boolean>>> outcomes(
            CheckpointFields payload, List<CheckpointFields> messages) {
        Map<String, Deque<Optional<Boolean>>> outcomes = new LinkedHashMap<>();
        for (CheckpointFields row : executions(payload)) {
            row.id("tool_name");
            if (!row.isNull("tool_call_id")) {
                outcomes.computeIfAbsent(row.text("tool_call_id"), id -> new ArrayDeque<>())
                        .add(Optional.of(row.flag("success")));
            }
        }
        Map<String, Integer> results = new HashMap<>();
        messages.stream()
                .filter(row -> row.text("role").equals("tool"))
                .flatMap(row -> row.optionalId("tool_call_id").stream())
                .forEach(id -> results.merge(id, 1, Integer::sum));
        outcomes.forEach((id, rows) -> {
            for (int missing = results.getOrDefault(id, 0) - rows.size(); missing > 0; missing--) {
                rows.addFirst(Optional.empty());
            }
        });
        return outcomes;
    }

    private void say(CheckpointFields row, boolean first) {
        row.checkThatCallsAreIn("\"tool_calls\"");
        boolean calls = !row.isNull("tool_calls") && !row.list("tool_calls").isEmpty();
        if (calls && !row.text("role").equals("assistant")) {
            throw row.corrupt("only a message of the assistant can have calls");
        }
        Message message = switch (row.text("role")) {
            // The first system message contains the instructions. The agent that continues has its own.
            case "system" -> new Message(Role.USER, first ? List.of() : content(row));
            case "user" -> new Message(Role.USER, content(row));
            case "assistant" -> {
                newestReplyCalls = calls;
                String text = calls && row.isNull("content") ? "" : words(row);
                yield assistant(text, calls ? calls(row) : List.of());
            }
            case "tool" -> result(row);
            default -> throw row.corrupt("no such role: " + row.text("role"));
        };
        if (!message.content().isEmpty()) {
            conversation.say(message, Optional.empty(), at);
        }
    }

    private static List<Part> content(CheckpointFields row) {
        return row.value("content") instanceof String text
                ? List.of(new Part.Text(text))
                : row.each("content", PhasesReader::part);
    }

    private static Part part(Object value, String place) {
        CheckpointFields part = CheckpointFields.of(value, place);
        return switch (part.text("type")) {
            case "text" -> new Part.Text(part.text("text"));
            case "image_url" -> new Part.Image(part.object("image_url").text("url"), Optional.empty());
            default -> throw part.corrupt("no such part: " + part.text("type"));
        };
    }

    private static String words(CheckpointFields row) {
        return new Message(Role.ASSISTANT, content(row)).text();
    }

    /** A result without a call id and without an open call of its tool is treated as a user message. */
    private Message result(CheckpointFields row) {
        String text = words(row);
        Optional<String> tool = row.optionalName("name");
        Optional<String> given = row.optionalId("tool_call_id");
        Optional<String> callId = given.isPresent() ? ids.result(given, tool) : tool.flatMap(ids::nextOf);
        if (callId.isEmpty()) {
            return Message.user("[result of " + tool.orElse("a tool") + "] " + text);
        }
        boolean failed = Optional.ofNullable(outcomes.get(given.orElse(callId.get())))
                .map(Deque::poll)
                .flatMap(Function.identity())
                .map(success -> !success)
                .orElseGet(() -> ToolTexts.isFailure(text));
        return Message.results(List.of(new Part.ToolResult(callId.get(), text, failed)));
    }

    private static Message assistant(String text, List<Part.ToolUse> calls) {
        List<Part> parts = new ArrayList<>();
        if (!text.isEmpty() || calls.isEmpty()) {
            parts.add(new Part.Text(text));
        }
        parts.addAll(calls);
        return new Message(Role.ASSISTANT, parts);
    }

    /** The calls of a reply, with unique ids. */
    private List<Part.ToolUse> calls(CheckpointFields reply) {
        ids.beginReply();
        newestCalls = reply.each("tool_calls", PhasesReader::call);
        return newestCalls.stream()
                .map(call -> call.withId(ids.call(Optional.of(call.id()).filter(id -> !id.isEmpty()), call.name())))
                .toList();
    }

    /** A call as it is in the file; its id is empty if the file has none. */
    private static Part.ToolUse call(Object value, String place) {
        CheckpointFields call = CheckpointFields.of(value, place);
        return new Part.ToolUse(
                call.optionalId("id").orElse(""), call.id("tool_name"), FileArguments.read(call, "arguments"));
    }

    private void reply(CheckpointFields reply) {
        reply.checkThatCallsAreIn("\"tool_calls\"");
        reply.optionalText("request_id");
        reply.optionalText("finish_reason");
        reply.optionalText("model");
        if (!reply.isNull("usage")) {
            CheckpointFields usage = reply.object("usage");
            usage.optionalTotal("input_tokens");
            usage.optionalTotal("output_tokens");
        }
        String text = reply.text("text");
        List<Part.ToolUse> pending = reply.each("tool_calls", PhasesReader::call);
        boolean saidAlready = !pending.isEmpty() && pending.equals(newestCalls);
        if (!saidAlready && !conversation.openCalls().isEmpty()) {
            throw reply.corrupt("the calls of an earlier reply have no results: "
                    + conversation.openCalls().get(0).id());
        }
        newestReplyCalls = !pending.isEmpty();
        if (!saidAlready) {
            conversation.say(assistant(text, calls(reply)), Optional.empty(), at);
        }
        if (pending.isEmpty()) {
            structured(reply, "structured_response");
        }
    }

    private void keep(CheckpointFields source, int toolCalls, int replayed) {
        keepText(source, "session_token");
        keepText(source, "checkpoint_token");
        keepText(source, "requested_model");
        keepText(source, "normalized_model");
        keepText(source, "provider_adapter");
        keepRows(source, "tool_executions");
        keepRows(source, "subagent_executions");
        extras.put("turn", turn());
        extras.put("tool_calls", toolCalls);
        keepReplays(source, replayed);
    }

    private void keepReplays(CheckpointFields source, int more) {
        int before = source.isNull("replayed_effect_count") ? 0 : source.count("replayed_effect_count");
        extras.put("replayed_effect_count", before + more);
    }

    private void keepText(CheckpointFields source, String name) {
        source.optionalText(name).ifPresent(text -> extras.put(name, text));
    }

    private void keepRows(CheckpointFields source, String name) {
        if (!source.isNull(name)) {
            extras.put(
                    name,
                    source.each(name, CheckpointFields::of).stream()
                            .map(CheckpointFields::json)
                            .toList());
        }
    }

    private void keepReply(CheckpointFields reply, int step) {
        Map<String, Object> rest = new LinkedHashMap<>();
        for (String name : List.of("request_id", "finish_reason", "model", "usage")) {
            rest.put(name, reply.value(name));
        }
        extras.put("pending_step", step);
        extras.put("pending_reply", rest);
    }
}
