package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Creates the records of a turn in the {@code phases} format, including snapshots of the whole state. */
final class PhasesSnapshot {
    private static final String SNAPSHOT = "runtime_state";

    private final Timeline timeline;
    private final String runId;
    private final MessageRows rows = new MessageRows(new Spelling());
    private final PhasesExecutions executions = new PhasesExecutions();
    private final Map<Integer, Usage> usages = new HashMap<>();

    PhasesSnapshot(Timeline timeline) {
        this.timeline = timeline;
        String first = timeline.moments().isEmpty()
                ? timeline.runId()
                : timeline.moments().get(0).runId();
        this.runId = first + ":" + timeline.now().turn().number();
        for (Moment moment : timeline.moments()) {
            if (moment.fact().orElse(null) instanceof ModelFact.ModelReplied replied) {
                usages.putIfAbsent(replied.step(), replied.reply().usage());
            }
        }
    }

    String runId() {
        return runId;
    }

    PhasesExecutions executions() {
        return executions;
    }

    int messageCount(Conversation state) {
        return rows(state, Optional.empty()).size();
    }

    Json record(String phase, int step, Instant at, Map<String, ?> payload) {
        return Json.of(tree(phase, step, at, payload));
    }

    private Map<String, Object> tree(String phase, int step, Instant at, Map<String, ?> payload) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("schema_version", "v1");
        record.put("run_id", runId);
        record.put("thread_id", timeline.thread());
        record.put("step", step);
        record.put("phase", phase);
        record.put("timestamp_ms", at.toEpochMilli());
        record.put("payload", payload);
        return record;
    }

    Json record(Conversation state) {
        Optional<Message> pending = pendingReply(state);
        Extras extras = Extras.of(state);
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("messages", rows(state, pending));
        payload.put("step", state.counters().steps());
        payload.put("state", stateName(state));
        payload.put("context", state.context().<Object>map(Json::value).orElseGet(() -> extras.object("context")));
        payload.put("llm_calls", CheckpointMessages.iterations(state));
        payload.put("tool_calls", PhasesExecutions.count(state, pending));
        payload.put("started_at_s", Timestamps.seconds(state.turn().startedAt()));
        payload.put("usage", usage(state.turn().usage()));
        payload.put("total_cost_usd", extras.cost());
        payload.put("session_token", extras.value("session_token"));
        payload.put("checkpoint_token", extras.value("checkpoint_token"));
        payload.put(
                "pending_llm_response",
                pending.map(reply -> reply(reply, state)).orElse(null));
        payload.put("tool_executions", executions.ofTools(state));
        payload.put("subagent_executions", executions.ofSubagents(state));
        putModel(payload, state);
        payload.put("final_text", state.turn().text());
        payload.put("final_structured", structured(state.turn()));
        payload.put("replayed_effect_count", extras.countOfTurn("replayed_effect_count"));
        Map<String, Object> record = tree(SNAPSHOT, state.counters().steps(), state.updatedAt(), payload);
        Map<String, Object> effects = effects(state, pending);
        if (!effects.isEmpty()) {
            record.put("effects", effects);
        }
        return Json.of(record);
    }

    /** The newest reply, if it has open calls and none of them may have a side effect in progress. */
    private static Optional<Message> pendingReply(Conversation state) {
        boolean harmless = state.openCalls().stream().allMatch(call -> isHarmless(state, call));
        return state.openCalls().isEmpty() || !harmless
                ? Optional.empty()
                : state.transcript()
                        .entries()
                        .last()
                        .map(Transcript.Entry::message)
                        .map(CheckpointMessages::documented);
    }

    private static boolean isHarmless(Conversation state, Call call) {
        return switch (call.status()) {
            case ISSUED, HELD, JUDGING, AWAITING, ASKING, UNSETTLED ->
                call.claim().isEmpty() && !call.mayHaveRunBefore();
            case DISPATCHED ->
                !state.policy().map(policy -> hasEffect(policy, call)).orElse(true);
            case CLAIMED, REMOTE, FOLLOWING, DELEGATED, UNKNOWN, DOUBTED, VERIFYING -> false;
            case COMPLETED, FAILED, DENIED, CANCELLED, LOST -> true;
        };
    }

    private static boolean hasEffect(AgentPolicy policy, Call call) {
        return policy.policyOf(call.tool()).effect();
    }

    private Map<String, Object> reply(Message message, Conversation state) {
        int step = state.counters().steps();
        Usage used = usages.get(step);
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("text", message.text());
        if (used == null && Extras.of(state).count("pending_step") == step) {
            reply.putAll(Extras.of(state).object("pending_reply"));
        } else {
            reply.put("request_id", null);
            reply.put("finish_reason", "tool_use");
            reply.put("model", model().name());
            reply.put("usage", usage(used == null ? Usage.NONE : used));
        }
        reply.put(
                "tool_calls",
                message.toolUses().stream().map(PhasesSnapshot::call).toList());
        return reply;
    }

    private static Map<String, Object> call(Part.ToolUse use) {
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("id", use.id());
        call.put("tool_name", use.name());
        call.put("arguments", FileArguments.written(use.input()));
        return call;
    }

    /** The results of a pending reply's calls. */
    private static Map<String, Object> effects(Conversation state, Optional<Message> pending) {
        Map<String, Object> effects = new LinkedHashMap<>();
        if (pending.isPresent()) {
            for (Part.ToolUse use : pending.get().toolUses()) {
                state.calls()
                        .get(use.id())
                        .flatMap(Call::toolResult)
                        .ifPresent(result -> effects.put(use.id(), effect(use, result)));
            }
        }
        return effects;
    }

    /**
     * The row of a result. The input hash is that of the arguments in the reply, even if an approval has changed them.
     */
    private static Map<String, Object> effect(Part.ToolUse use, Part.ToolResult result) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("input_hash", inputHash(use.name(), FileArguments.written(use.input())));
        row.put("output_hash", outputHash(result.content()));
        row.put("output", result.content());
        row.put("success", !result.isError());
        return row;
    }

    static String inputHash(String tool, Json args) {
        Map<String, Object> input = new LinkedHashMap<>();
        input.put("tool_name", tool);
        input.put("args", args);
        return Sha256.hex(Json.canonical(input));
    }

    static String outputHash(@Nullable Object output) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("output", output);
        return Sha256.hex(Json.canonical(tree));
    }

    private List<Object> rows(Conversation state, Optional<Message> pending) {
        List<Message> messages = new ArrayList<>(CheckpointMessages.messages(state));
        if (pending.isPresent()) {
            // Existing results are stored as effects.
            while (!messages.get(messages.size() - 1).equals(pending.get())) {
                messages.remove(messages.size() - 1);
            }
            messages.remove(messages.size() - 1);
        }
        List<Object> all = new ArrayList<>();
        timeline.instructions().ifPresent(words -> all.add(MessageRows.row("system", words)));
        all.addAll(rows.of(messages));
        return all;
    }

    private static final class Spelling implements MessageRows.Spelling {
        @Override
        public List<Map<String, Object>> results(List<Part.ToolResult> results, Map<String, String> tools) {
            List<Map<String, Object>> rows = new ArrayList<>();
            for (Part.ToolResult result : results) {
                Map<String, Object> row = MessageRows.row("tool", result.content());
                row.put("name", tools.getOrDefault(result.toolUseId(), ""));
                row.put("tool_call_id", result.toolUseId());
                rows.add(row);
            }
            return rows;
        }

        @Override
        public Map<String, Object> assistant(Message message) {
            Map<String, Object> row = MessageRows.row("assistant", message.text());
            if (!message.toolUses().isEmpty()) {
                row.put(
                        "tool_calls",
                        message.toolUses().stream().map(PhasesSnapshot::call).toList());
            }
            return row;
        }
    }

    /** The structured result of a turn; null if it is not an object, since the format supports only objects. */
    static @Nullable Json structured(Turn turn) {
        return turn.structured().filter(Json::isObject).orElse(null);
    }

    static Map<String, Object> usage(Usage usage) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("input_tokens", usage.inputTokens());
        tree.put("output_tokens", usage.outputTokens());
        tree.put("total_tokens", usage.plus(new Usage(usage.outputTokens(), 0)).inputTokens());
        return tree;
    }

    static String stateName(Conversation state) {
        return switch (state.turn().status()) {
            case NONE -> "pending";
            case RUNNING -> isPaused(state) ? "paused" : "running";
            case COMPLETE, CUT -> "completed";
            case FAILED, MAX_ITERATIONS, BUDGET -> "failed";
            case STOPPED, CANCELLED -> "cancelled";
        };
    }

    /**
     * Whether the turn waits only for people. If calls of the newest reply have started, a reader treats all open ones
     * as asking a question, so this is then true only if all of them ask one.
     */
    private static boolean isPaused(Conversation state) {
        boolean allAsk = state.openCalls().stream().allMatch(call -> call.status() == Call.Status.ASKING);
        return CheckpointMessages.waiting(state).isPresent()
                && (allAsk || pendingReply(state).isPresent());
    }

    /** A model in the form {@code provider:name}. */
    record Model(@Nullable String provider, @Nullable String name) {}

    Model model() {
        Optional<String> whole = timeline.model();
        int colon = whole.map(name -> name.indexOf(':')).orElse(-1);
        return whole.isEmpty()
                ? new Model(null, null)
                : new Model(
                        whole.get().substring(0, Math.max(0, colon)),
                        whole.get().substring(colon + 1));
    }

    void putModel(Map<String, Object> tree, Conversation state) {
        Extras extras = Extras.of(state);
        boolean known = timeline.model().isPresent();
        tree.put("requested_model", known ? timeline.model().get() : extras.value("requested_model"));
        tree.put("normalized_model", known ? model().name() : extras.value("normalized_model"));
        tree.put("provider_adapter", known ? model().provider() : extras.value("provider_adapter"));
    }
}
