package dev.waymark.checkpoint;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The {@code phases} format: a record for each phase of a turn, including snapshots from which a run can be continued.
 *
 * <p>It cannot represent reasoning and images. A snapshot stores a reply whose calls have no results yet as {@code
 * pending_llm_response}, and the results so far as {@code effects}. If a side effect may be in progress, the reply is
 * stored among the messages instead, so that its calls are not run again.
 */
public final class PhasesCheckpoint {
    private final Timeline timeline;
    private final PhasesSnapshot snapshots;
    private final Consumer<Json> records;
    private Optional<Json> newest = Optional.empty();

    private PhasesCheckpoint(Timeline timeline, Consumer<Json> records) {
        this.timeline = timeline;
        this.records = records;
        this.snapshots = new PhasesSnapshot(timeline);
    }

    /** A snapshot of the newest state, as a single record. */
    public static Json latest(Timeline timeline) {
        List<Json> records = new ArrayList<>();
        new PhasesCheckpoint(timeline, records::add).addSnapshot(timeline.now());
        return withAgent(records.get(0), timeline.now().agent());
    }

    /** Adds the agent's name next to the payload of a single record. In a chain, the first record has the name. */
    private static Json withAgent(Json record, String agent) {
        if (agent.isEmpty()) {
            return record;
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        ((Map<?, ?>) Objects.requireNonNull(record.value())).forEach((name, value) -> fields.put((String) name, value));
        fields.put("agent_name", agent);
        return Json.of(fields);
    }

    /** The records of the newest turn that are still in history. */
    public static List<Json> chain(Timeline timeline) {
        List<Json> records = new ArrayList<>();
        tell(timeline, records::add);
        return records;
    }

    /**
     * Like {@link #chain}, but passes on one record at a time, because each snapshot contains the whole conversation
     * and a long turn has many snapshots.
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
     * Adds a snapshot if a running turn has changed since the newest snapshot. Otherwise, a resume would run calls
     * again that have started or ended since then.
     */
    private void addEnd() {
        Conversation now = timeline.now();
        Json snapshot = snapshots.record(now);
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
        Optional<PendingItem> waited = before.flatMap(PhasesCheckpoint::ask);
        Optional<PendingItem> waits = ask(state);
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
        records.accept(snapshots.record("run_started", 0, state.updatedAt(), payload));
        if (resumed) {
            addSnapshot(state);
        }
    }

    private void addStep(Conversation state) {
        int messages = snapshots.messageCount(state);
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("state", PhasesSnapshot.stateName(state));
        payload.put("message_count", messages);
        add("step_started", state, payload);
        addSnapshot(state);
        Map<String, Object> call = new LinkedHashMap<>();
        call.put("model", snapshots.model().name());
        call.put("provider", snapshots.model().provider());
        call.put("message_count", messages);
        add("pre_llm", state, call);
    }

    private static boolean isCut(Conversation state) {
        return state.turn()
                .problem()
                .filter(problem -> problem.type().equals(ProblemType.REPLY_CUT))
                .isPresent();
    }

    private void addReply(Conversation state) {
        int calls = state.batch().size();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("model", snapshots.model().name());
        payload.put("provider", snapshots.model().provider());
        payload.put("finish_reason", calls > 0 ? "tool_use" : isCut(state) ? "max_tokens" : "end_turn");
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

    /** Whether the last open call among these calls of the newest reply has just ended. */
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

    /**
     * Adds the start of the batch of subagents. In a chain, batches follow each other, even if their calls ran
     * concurrently.
     */
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

    /** The first request of this thread or of a subagent's thread, if the turn waits only for people. */
    private static Optional<PendingItem> ask(Conversation state) {
        return state.isInterrupted() ? state.asks().stream().findFirst() : Optional.empty();
    }

    /** The subject of a request. It includes the kind, since a call may ask a question after its approval. */
    private static List<Object> subject(PendingItem ask) {
        return List.of(ask.callId(), ask.kind());
    }

    private void addPause(Conversation state, PendingItem ask) {
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("kind", kindOf(ask));
        if (ask.kind() == PendingItem.Kind.QUESTION) {
            payload.put("prompt", ask.question().orElse(""));
        } else {
            payload.put("reason", ask.tool());
        }
        add("paused", state, payload);
    }

    private static String kindOf(PendingItem ask) {
        return ask.kind() == PendingItem.Kind.QUESTION ? "user_input" : "approval";
    }

    private void addTerminal(Conversation state) {
        Turn turn = state.turn();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("state", PhasesSnapshot.stateName(state));
        if (turn.status() == Turn.Status.COMPLETE || turn.status() == Turn.Status.CUT) {
            payload.put("final_text", turn.text());
            snapshots.putModel(payload, state);
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
        result.put("run_id", snapshots.runId());
        result.put("thread_id", timeline.thread());
        result.put("state", PhasesSnapshot.stateName(state));
        result.put("final_text", turn.text());
        result.put("final_structured", PhasesSnapshot.structured(turn));
        snapshots.putModel(result, state);
        result.put("tool_executions", snapshots.executions().ofTools(state));
        result.put("subagent_executions", snapshots.executions().ofSubagents(state));
        result.put("usage_aggregate", PhasesSnapshot.usage(turn.usage()));
        result.put("total_cost_usd", Extras.of(state).cost());
        Map<String, Object> snapshot = new LinkedHashMap<>();
        snapshot.put("state", PhasesSnapshot.stateName(state));
        snapshot.put("step", state.counters().steps());
        snapshot.put("llm_calls", CheckpointMessages.iterations(state));
        snapshot.put("tool_calls", PhasesExecutions.count(state, Optional.empty()));
        snapshot.put("started_at_s", Timestamps.seconds(turn.startedAt()));
        snapshot.put(
                "elapsed_s",
                Duration.between(turn.startedAt(), state.updatedAt()).toMillis() / 1000.0);
        snapshot.put("total_cost_usd", Extras.of(state).cost());
        snapshot.put("replayed_effect_count", Extras.of(state).countOfTurn("replayed_effect_count"));
        result.put("state_snapshot", snapshot);
        return result;
    }

    private void add(String phase, Conversation state, Map<String, ?> payload) {
        records.accept(snapshots.record(phase, state.counters().steps(), state.updatedAt(), payload));
    }

    private void addSnapshot(Conversation state) {
        Json snapshot = snapshots.record(state);
        newest = Optional.of(snapshot);
        records.accept(snapshot);
    }
}
