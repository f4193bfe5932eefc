package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.OpenRequest;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The {@code phases} format: a record for each phase of a turn, including snapshots from which a run can be continued.
 *
 * <p>It cannot represent reasoning and images. A snapshot stores a reply whose calls have no results yet as {@code
 * pending_llm_response}, and the results so far as {@code effects}. If a side effect may be in progress, the reply is
 * stored among the messages instead, so that its calls are not run again.
 */
public final class PhasesCheckpoint {
    private static final String SNAPSHOT = "runtime_state";

    private final Timeline timeline;
    private final String runId;
    private final Consumer<Json> records;
    private final MessageRows rows = new MessageRows(new Spelling());
    private final Map<Call, Json> executions = new IdentityHashMap<>();
    private final Map<Integer, Usage> usages = new HashMap<>();
    private Optional<Json> newest = Optional.empty();

    private PhasesCheckpoint(Timeline timeline, Consumer<Json> records) {
        this.timeline = timeline;
        this.records = records;
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

    /** The newest snapshot. */
    public static Json latest(Timeline timeline) {
        List<Json> records = new ArrayList<>();
        new PhasesCheckpoint(timeline, records::add).addSnapshot(timeline.now());
        return withAgent(records.get(0), timeline.now().agent());
    }

    /** Adds the agent next to the payload of a single record. In a chain, the first record names it. */
    private static Json withAgent(Json record, String agent) {
        if (agent.isEmpty()) {
            return record;
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        ((Map<?, ?>) Objects.requireNonNull(record.value())).forEach((name, value) -> fields.put((String) name, value));
        fields.put("agent_name", agent);
        return Json.of(fields);
    }

    /** The records of the newest turn, as far as they are still in history. */
    public static List<Json> chain(Timeline timeline) {
        List<Json> records = new ArrayList<>();
        tell(timeline, records::add);
        return records;
    }

    /**
     * Like {@link #chain}, one record at a time: each snapshot has the whole conversation, and a long turn has many.
     */
    public static void tell(Timeline timeline, Consumer<Json> records) {
        new PhasesCheckpoint(timeline, records).addChain();
    }

    private void addChain() {
        int number = timeline.now().turn().number();
        Optional<Conversation> before = Optional.empty();
        for (Moment moment : timeline.moments()) {
            Conversation state = moment.state();
            if (state.turn().number() == number && number > 0) {
                addPhases(before, moment);
            }
            before = Optional.of(state);
        }
        addEnd();
    }

    /**
     * Adds a snapshot if calls may have started or ended since the newest one. Otherwise they would be run again after
     * a resume.
     */
    private void addEnd() {
        Conversation now = timeline.now();
        Json snapshot = snapshot(now);
        if (now.turn().isRunning()
                && newest.filter(each -> isSame(each, snapshot)).isEmpty()) {
            records.accept(snapshot);
        }
    }

    private static boolean isSame(Json one, Json other) {
        return Objects.equals(one.field("payload"), other.field("payload"))
                && Objects.equals(one.field("effects"), other.field("effects"));
    }

    private void addPhases(Optional<Conversation> previous, Moment moment) {
        Conversation state = moment.state();
        Optional<Conversation> before = previous.filter(
                earlier -> earlier.turn().number() == state.turn().number());
        boolean ran = before.filter(earlier -> earlier.turn().isRunning()).isPresent();
        boolean resumedElsewhere = before.isEmpty() && moment.fact().isEmpty();
        if (before.isEmpty() || (!ran && state.turn().isRunning())) {
            addStart(state, resumedElsewhere || before.isPresent());
        }
        Optional<OpenRequest> waited = before.flatMap(PhasesCheckpoint::ask);
        Optional<OpenRequest> waits = ask(state);
        boolean waitsForAnother = !waited.map(PhasesCheckpoint::subject).equals(waits.map(PhasesCheckpoint::subject));
        if (waited.isPresent() && waitsForAnother) {
            add("resumed", state, Map.of("kind", kindOf(waited.get())));
        }
        boolean asked =
                moment.fact().filter(ModelFact.ModelCalled.class::isInstance).isPresent();
        if (asked && state.modelCalled()) {
            addStep(state);
        }
        boolean replied = before.filter(Conversation::modelCalled).isPresent()
                && !state.modelCalled()
                && moment.fact()
                        .filter(ModelFact.ModelReplied.class::isInstance)
                        .isPresent();
        if (replied) {
            addReply(state);
        }
        if (ended(replied, before, state, PhasesCheckpoint::tools)) {
            addToolsDone(state);
        }
        if (ended(replied, before, state, Conversation::batchCalls)
                && !subagents(state).isEmpty()) {
            addSubagentsDone(state);
        }
        if (waits.isPresent() && waitsForAnother) {
            addPause(state, waits.get());
        }
        if ((ran || before.isEmpty()) && !state.turn().isRunning()) {
            addTerminal(state);
        }
    }

    private void addStart(Conversation state, boolean resumed) {
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("agent_name", state.agent());
        payload.put("resumed", resumed);
        records.accept(record("run_started", 0, state.updatedAt(), payload));
        if (resumed) {
            addSnapshot(state);
        }
    }

    private void addStep(Conversation state) {
        int messages = rows(state, Optional.empty()).size();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("state", stateName(state));
        payload.put("message_count", messages);
        add("step_started", state, payload);
        addSnapshot(state);
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("model", model().name());
        call.put("provider", model().provider());
        call.put("message_count", messages);
        add("pre_llm", state, call);
    }

    private void addReply(Conversation state) {
        int calls = state.batch().size();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("model", model().name());
        payload.put("provider", model().provider());
        payload.put("finish_reason", calls > 0 ? "tool_use" : "end_turn");
        payload.put("tool_call_count", calls);
        payload.put("session_token", Extras.of(state).value("session_token"));
        payload.put("checkpoint_token", Extras.of(state).value("checkpoint_token"));
        payload.put("total_cost_usd", Extras.of(state).cost());
        add("post_llm", state, payload);
        addSnapshot(state);
        int tools = tools(state).size();
        if (tools > 0) {
            add("pre_tool_batch", state, Map.of("tool_call_count", tools));
        } else if (calls > 0) {
            addSubagentsBegun(state);
        }
    }

    /** Whether the last open one of these calls of the newest reply has ended. */
    private static boolean ended(
            boolean replied,
            Optional<Conversation> before,
            Conversation state,
            Function<Conversation, List<Call>> calls) {
        boolean wereOpen = replied
                ? !calls.apply(state).isEmpty()
                : before.filter(earlier -> calls.apply(earlier).stream().anyMatch(Call::isOpen))
                        .isPresent();
        return wereOpen
                && !state.batch().isEmpty()
                && calls.apply(state).stream().noneMatch(Call::isOpen);
    }

    private void addToolsDone(Conversation state) {
        List<Call> tools = tools(state);
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("tool_calls_total", tools.size());
        payload.put("tool_failures", failures(tools));
        add("post_tool_batch", state, payload);
        addSnapshot(state);
        if (!subagents(state).isEmpty()) {
            addSubagentsBegun(state);
        }
    }

    /** In a chain, batches follow each other, even if their calls ran concurrently. */
    private void addSubagentsBegun(Conversation state) {
        List<Call> subagents = subagents(state);
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("targets", subagents.stream().map(Call::tool).toList());
        payload.put("router_parallel", subagents.size() > 1);
        add("pre_subagent_batch", state, payload);
    }

    private void addSubagentsDone(Conversation state) {
        List<Call> subagents = subagents(state);
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("success_count", subagents.size() - failures(subagents));
        payload.put("failure_count", failures(subagents));
        add("post_subagent_batch", state, payload);
        addSnapshot(state);
    }

    private static List<Call> tools(Conversation state) {
        return state.batchCalls().stream()
                .filter(call -> !state.isForSubagent(call))
                .toList();
    }

    private static List<Call> subagents(Conversation state) {
        return state.batchCalls().stream().filter(state::isForSubagent).toList();
    }

    private static long failures(List<Call> calls) {
        return calls.stream()
                .filter(call -> call.status() != Call.Status.COMPLETED)
                .count();
    }

    /** The first request, of this thread or of a subagent's, if the turn waits only for people. */
    private static Optional<OpenRequest> ask(Conversation state) {
        return state.isInterrupted() ? state.asks().stream().findFirst() : Optional.empty();
    }

    /** The subject of a request. A call may have a question after its approval. */
    private static List<Object> subject(OpenRequest ask) {
        return List.of(ask.callId(), ask.kind());
    }

    private void addPause(Conversation state, OpenRequest ask) {
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("kind", kindOf(ask));
        if (ask.kind() == OpenRequest.Kind.QUESTION) {
            payload.put("prompt", ask.question().orElse(""));
        } else {
            payload.put("reason", ask.tool());
        }
        add("paused", state, payload);
    }

    private static String kindOf(OpenRequest ask) {
        return ask.kind() == OpenRequest.Kind.QUESTION ? "user_input" : "approval";
    }

    private void addTerminal(Conversation state) {
        Turn turn = state.turn();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("state", stateName(state));
        if (turn.status() == Turn.Status.COMPLETE) {
            payload.put("final_text", turn.text());
            putModel(payload, state);
        } else {
            payload.put(
                    "message", turn.problem().map(problem -> problem.message()).orElse(""));
        }
        payload.put("terminal_result", terminalResult(state));
        add("run_terminal", state, payload);
    }

    private Map<String, Object> terminalResult(Conversation state) {
        Turn turn = state.turn();
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("run_id", runId);
        result.put("thread_id", timeline.thread());
        result.put("state", stateName(state));
        result.put("final_text", turn.text());
        result.put("final_structured", structured(turn));
        putModel(result, state);
        result.put("tool_executions", toolExecutions(state));
        result.put("subagent_executions", subagentExecutions(state));
        result.put("usage_aggregate", usage(turn.usage()));
        result.put("total_cost_usd", Extras.of(state).cost());
        Map<String, Object> snapshot = new LinkedHashMap<>();
        snapshot.put("state", stateName(state));
        snapshot.put("step", state.counters().steps());
        snapshot.put("llm_calls", CheckpointMessages.iterations(state));
        snapshot.put("tool_calls", toolCallCount(state, Optional.empty()));
        snapshot.put("started_at_s", Timestamps.seconds(turn.startedAt()));
        snapshot.put(
                "elapsed_s",
                Duration.between(turn.startedAt(), state.updatedAt()).toMillis() / 1000.0);
        snapshot.put("total_cost_usd", Extras.of(state).cost());
        snapshot.put("replayed_effect_count", Extras.of(state).countOfTurn("replayed_effect_count"));
        result.put("state_snapshot", snapshot);
        return result;
    }

    /** The format supports objects only. */
    private static @Nullable Json structured(Turn turn) {
        return turn.structured().filter(Json::isObject).orElse(null);
    }

    private void add(String phase, Conversation state, Map<String, ?> payload) {
        records.accept(record(phase, state.counters().steps(), state.updatedAt(), payload));
    }

    private Json record(String phase, int step, Instant at, Map<String, ?> payload) {
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

    private void addSnapshot(Conversation state) {
        Json snapshot = snapshot(state);
        newest = Optional.of(snapshot);
        records.accept(snapshot);
    }

    private Json snapshot(Conversation state) {
        Optional<Message> pending = pendingReply(state);
        Extras extras = Extras.of(state);
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("messages", rows(state, pending));
        payload.put("step", state.counters().steps());
        payload.put("state", stateName(state));
        payload.put("context", state.context().<Object>map(Json::value).orElseGet(() -> extras.object("context")));
        payload.put("llm_calls", CheckpointMessages.iterations(state));
        payload.put("tool_calls", toolCallCount(state, pending));
        payload.put("started_at_s", Timestamps.seconds(state.turn().startedAt()));
        payload.put("usage", usage(state.turn().usage()));
        payload.put("total_cost_usd", extras.cost());
        payload.put("session_token", extras.value("session_token"));
        payload.put("checkpoint_token", extras.value("checkpoint_token"));
        payload.put(
                "pending_llm_response",
                pending.map(reply -> reply(reply, state)).orElse(null));
        payload.put("tool_executions", toolExecutions(state));
        payload.put("subagent_executions", subagentExecutions(state));
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

    /** The newest reply, if it has open calls and none of them can be taking effect. */
    private static Optional<Message> pendingReply(Conversation state) {
        boolean harmless = state.openCalls().stream().allMatch(call -> isHarmless(state, call));
        return state.openCalls().isEmpty() || !harmless
                ? Optional.empty()
                : state.transcript().entries().last().map(Transcript.Entry::message);
    }

    private static boolean isHarmless(Conversation state, Call call) {
        return switch (call.status()) {
            case ISSUED, HELD, AWAITING, ASKING, UNSETTLED -> call.claim().isEmpty();
            case DISPATCHED ->
                !state.terms().map(terms -> hasEffect(terms, call)).orElse(true);
            case CLAIMED, DELEGATED, UNKNOWN, DOUBTED, VERIFYING -> false;
            case COMPLETED, FAILED, DENIED, CANCELLED, LOST -> true;
        };
    }

    private static boolean hasEffect(AgentPolicy terms, Call call) {
        return Optional.ofNullable(terms.care().get(call.tool()))
                .map(AgentPolicy.Care::effect)
                .orElse(false);
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
                message.toolUses().stream().map(PhasesCheckpoint::call).toList());
        return reply;
    }

    private static Map<String, Object> call(Part.ToolUse use) {
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("id", use.id());
        call.put("tool_name", use.name());
        call.put("arguments", use.input());
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

    /** A result with the arguments in the reply. If an approval changed them, only the result shows it. */
    private static Map<String, Object> effect(Part.ToolUse use, Part.ToolResult result) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("input_hash", inputHash(use.name(), use.input()));
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
                        message.toolUses().stream().map(PhasesCheckpoint::call).toList());
            }
            return row;
        }
    }

    /** The calls in the snapshot that the thread started from, and all calls since. */
    private List<Object> toolExecutions(Conversation state) {
        List<Object> rows = new ArrayList<>(Extras.of(state).list("tool_executions"));
        Set<String> known = new HashSet<>();
        for (Object row : rows) {
            known.add(String.valueOf(((Map<?, ?>) row).get("tool_call_id")));
        }
        Extras.of(state).list("not_executed").forEach(known::remove);
        known.addAll(toldOfSubagents(state));
        forEachResult(state, (use, call, result, millis) -> {
            if (!known.contains(use.id()) && !state.isForSubagent(call)) {
                rows.add(executions.computeIfAbsent(call, each -> Json.of(execution(use, result, millis, state))));
            }
        });
        return rows;
    }

    /** The subagent calls in the snapshot that the thread started from. Its rows have no ids. */
    private static Set<String> toldOfSubagents(Conversation state) {
        List<Object> rows = new ArrayList<>(Extras.of(state).list("subagent_executions"));
        Set<String> calls = new HashSet<>();
        if (!rows.isEmpty()) {
            forEachResult(state, (use, call, result, millis) -> {
                for (int i = 0; i < rows.size(); i++) {
                    if (isAbout((Map<?, ?>) rows.get(i), use, result)) {
                        rows.remove(i);
                        calls.add(use.id());
                        break;
                    }
                }
            });
        }
        return calls;
    }

    private static boolean isAbout(Map<?, ?> row, Part.ToolUse use, Part.ToolResult result) {
        // A snapshot's messages do not tell which results are errors.
        boolean isText = result.content().equals(row.get("output_text"))
                || result.content().equals(row.get("error"));
        return isText && use.name().equals(row.get("subagent_name"));
    }

    /** The subagent calls in the snapshot that the thread started from, and all calls since. */
    private List<Object> subagentExecutions(Conversation state) {
        List<Object> rows = new ArrayList<>(Extras.of(state).list("subagent_executions"));
        Set<String> known = toldOfSubagents(state);
        forEachResult(state, (use, call, result, millis) -> {
            if (state.isForSubagent(call) && !known.contains(use.id())) {
                rows.add(executions.computeIfAbsent(call, each -> Json.of(subagentExecution(use, result, millis))));
            }
        });
        return rows;
    }

    /** Receives a call with its result and duration. */
    private interface Result {
        void take(Part.ToolUse use, Call call, Part.ToolResult result, long millis);
    }

    private static void forEachResult(Conversation state, Result taker) {
        List<Transcript.Entry> entries = CheckpointMessages.entries(state);
        Map<String, Part.ToolResult> results = CheckpointMessages.results(
                entries.stream().map(Transcript.Entry::message).toList());
        for (Transcript.Entry entry : entries) {
            for (Part.ToolUse use : entry.message().toolUses()) {
                Part.ToolResult result = results.get(use.id());
                Optional<Call> call = state.calls().get(use.id());
                if (result != null && call.isPresent()) {
                    long latency =
                            Duration.between(entry.at(), call.get().since()).toMillis();
                    taker.take(use, call.get(), result, Math.max(0, latency));
                }
            }
        }
    }

    private static Map<String, Object> subagentExecution(Part.ToolUse use, Part.ToolResult result, long millis) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("subagent_name", use.name());
        row.put("success", !result.isError());
        row.put("output_text", result.isError() ? null : result.content());
        row.put("error", result.isError() ? result.content() : null);
        row.put("latency_ms", millis);
        return row;
    }

    private static Map<String, Object> execution(
            Part.ToolUse use, Part.ToolResult result, long millis, Conversation state) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("tool_name", use.name());
        row.put("tool_call_id", use.id());
        row.put("success", !result.isError());
        row.put("output", result.isError() ? null : result.content());
        row.put("error", result.isError() ? result.content() : null);
        row.put("latency_ms", millis);
        row.put("agent_name", state.agent());
        row.put("agent_depth", state.parent().map(Parent::depth).orElse(0));
        return row;
    }

    /** The number of the turn's calls that have a result. Calls of a pending reply are not counted. */
    private static int toolCallCount(Conversation state, Optional<Message> pending) {
        int[] count = {Extras.of(state).countOfTurn("tool_calls")};
        int turn = state.turn().number();
        Set<String> toMake = new HashSet<>();
        pending.ifPresent(reply -> reply.toolUses().forEach(use -> toMake.add(use.id())));
        state.calls()
                .forEach((id, call) ->
                        count[0] += call.turn() == turn && !call.isOpen() && !toMake.contains(id) ? 1 : 0);
        return count[0];
    }

    private static Map<String, Object> usage(Usage usage) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("input_tokens", usage.inputTokens());
        tree.put("output_tokens", usage.outputTokens());
        tree.put("total_tokens", usage.plus(new Usage(usage.outputTokens(), 0)).inputTokens());
        return tree;
    }

    private static String stateName(Conversation state) {
        return switch (state.turn().status()) {
            case NONE -> "pending";
            case RUNNING -> isPaused(state) ? "paused" : "running";
            case COMPLETE -> "completed";
            case FAILED, MAX_ITERATIONS, BUDGET -> "failed";
            case STOPPED, CANCELLED -> "cancelled";
        };
    }

    /**
     * Whether the turn waits only for people. If calls of the newest reply have started, a reader treats all open ones
     * as asking a question, so none of them may be waiting for approval.
     */
    private static boolean isPaused(Conversation state) {
        boolean allAsk = state.openCalls().stream().allMatch(call -> call.status() == Call.Status.ASKING);
        return CheckpointMessages.waiting(state).isPresent()
                && (allAsk || pendingReply(state).isPresent());
    }

    /** A model in the form {@code provider:name}. */
    private record Model(
            @Nullable String provider, @Nullable String name) {}

    private Model model() {
        Optional<String> whole = timeline.model();
        int colon = whole.map(name -> name.indexOf(':')).orElse(-1);
        return whole.isEmpty()
                ? new Model(null, null)
                : new Model(
                        whole.get().substring(0, Math.max(0, colon)),
                        whole.get().substring(colon + 1));
    }

    private void putModel(Map<String, Object> tree, Conversation state) {
        Extras extras = Extras.of(state);
        boolean known = timeline.model().isPresent();
        tree.put("requested_model", known ? timeline.model().get() : extras.value("requested_model"));
        tree.put("normalized_model", known ? model().name() : extras.value("normalized_model"));
        tree.put("provider_adapter", known ? model().provider() : extras.value("provider_adapter"));
    }
}
