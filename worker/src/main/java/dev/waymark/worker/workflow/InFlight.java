package dev.waymark.worker.workflow;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.ActivityFailures;
import dev.waymark.contract.AgentInput;
import dev.waymark.contract.ModelInput;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.RunOutcome;
import dev.waymark.contract.StartInput;
import dev.waymark.contract.ThreadOwner;
import dev.waymark.contract.ToolInput;
import dev.waymark.contract.ToolOutcome;
import dev.waymark.contract.VerifyInput;
import dev.waymark.contract.VerifyOutcome;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Parent;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import io.temporal.activity.ActivityCancellationType;
import io.temporal.activity.ActivityOptions;
import io.temporal.api.enums.v1.ParentClosePolicy;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.common.RetryOptions;
import io.temporal.workflow.Async;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.ChildWorkflowCancellationType;
import io.temporal.workflow.ChildWorkflowOptions;
import io.temporal.workflow.ChildWorkflowStub;
import io.temporal.workflow.ExternalWorkflowStub;
import io.temporal.workflow.Promise;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The activities and the subagents' threads that are under way, each in a scope of its own, so that one that the state has given up can be
 * cancelled.
 *
 * <p>What an activity comes to is applied as a fact where its completion is handled, in history order.
 */
final class InFlight {
    private static final Duration HEARTBEAT_TIMEOUT = Duration.ofSeconds(15);
    private static final Duration MODEL_TIMEOUT = Duration.ofMinutes(10);
    /** A tool that has to claim gives up after less than this. */
    private static final Duration CLAIM_TIMEOUT = Duration.ofSeconds(15);

    /** Usually a look into a table; but servers of tools may have to be started, and downloaded before that. */
    private static final Duration AGENT_TIMEOUT = Duration.ofMinutes(5);
    /** A tool ends itself at its own timeout; this much later the server takes it for lost. */
    private static final Duration GRACE = Duration.ofSeconds(10);
    /** How long a tool may wait for its turn among others of its kind. A worker that is lost meanwhile is noticed sooner. */
    private static final Duration TURN_TIMEOUT = Duration.ofMinutes(10);
    /** The most that one workflow task may command, in bytes: the server takes messages of up to 4 MiB. */
    private static final int MOST_BYTES_PER_TASK = 3 * 1024 * 1024;

    private static final String SUBAGENT = "subagent ";

    private static final RetryOptions MODEL_RETRIES = RetryOptions.newBuilder()
            .setInitialInterval(Duration.ofSeconds(1))
            .setMaximumInterval(Duration.ofSeconds(30))
            .setMaximumAttempts(10)
            .build();
    /** A server of tools that is not there will perhaps never be. */
    private static final RetryOptions AGENT_RETRIES = RetryOptions.newBuilder()
            .setInitialInterval(Duration.ofMillis(500))
            .setMaximumInterval(Duration.ofSeconds(5))
            .setMaximumAttempts(6)
            .build();

    private static final RetryOptions SAFE_RETRIES =
            RetryOptions.newBuilder().setMaximumAttempts(5).build();
    private static final RetryOptions NO_RETRIES =
            RetryOptions.newBuilder().setMaximumAttempts(1).build();

    private final Consumer<Fact> facts;
    private final Map<String, Flight> flights = new LinkedHashMap<>();

    private Optional<AgentSpec> agent;
    private long task;
    private int bytesInTask;
    private boolean timerSet;
    private boolean anotherTaskDue;

    /** Begins with the agent that the run before knew, if there was one. */
    InFlight(Consumer<Fact> facts, Optional<AgentSpec> agent) {
        this.facts = facts;
        this.agent = agent;
    }

    /** The agent, once it is resolved. */
    Optional<AgentSpec> agent() {
        return agent;
    }

    boolean areDown() {
        return flights.isEmpty();
    }

    /** A timer that was set only to get another workflow task has fired. */
    boolean wantsAnotherTask() {
        return anotherTaskDue;
    }

    boolean resolveAgent(Step.ResolveAgent step, int rules) {
        facts.accept(new Fact.AgentRequested());
        ActivityOptions options = options(AGENT_TIMEOUT, "agent " + step.agent())
                .setHeartbeatTimeout(HEARTBEAT_TIMEOUT)
                .setRetryOptions(AGENT_RETRIES)
                .build();
        begin(
                WireNames.AGENT_ACTIVITY,
                state -> state.terms().isEmpty() && state.life() != Conversation.Life.CANCELLED,
                () -> run(options, WireNames.AGENT_ACTIVITY, AgentSpec.class, new AgentInput(step.agent(), rules)),
                spec -> {
                    agent = Optional.of(spec);
                    return new Fact.AgentResolved(spec.terms());
                },
                failure -> new Fact.AgentRefused(ActivityFailures.problem(failure)));
        return true;
    }

    /** Calls the model with what the state has just committed. */
    boolean callModel(Conversation committed) {
        int step = committed.counters().steps();
        beginModel(
                committed,
                "step " + step,
                reply -> new Fact.ModelReplied(step, reply),
                failure ->
                        new Fact.ModelFailed(step, ActivityFailures.problem(failure), ActivityFailures.spent(failure)));
        return true;
    }

    /** Has the model summarise the older part of what the state has just committed. */
    boolean summarise(Conversation committed) {
        int step = committed.counters().steps();
        beginModel(
                committed,
                "step " + step + ", a summary",
                reply -> new Fact.Summarised(step, reply),
                failure -> new Fact.SummaryFailed(
                        step, ActivityFailures.problem(failure), ActivityFailures.spent(failure)));
        return true;
    }

    private void beginModel(
            Conversation committed,
            String summary,
            Function<Reply, Fact> onReply,
            Function<RuntimeException, Fact> onFailure) {
        int step = committed.counters().steps();
        ModelInput input = ModelInput.of(committed);
        ActivityOptions options = options(MODEL_TIMEOUT, summary)
                .setHeartbeatTimeout(HEARTBEAT_TIMEOUT)
                .setRetryOptions(MODEL_RETRIES)
                .build();
        begin(
                WireNames.MODEL_ACTIVITY + " " + step,
                state -> state.modelCalled() && state.counters().steps() == step,
                () -> run(options, WireNames.MODEL_ACTIVITY, Reply.class, input),
                onReply,
                onFailure);
    }

    /** Hands a call to a worker, unless this workflow task has commanded as much as one may. */
    boolean runTool(Step.RunTool step, Optional<String> session) {
        Call call = step.call();
        ToolSpec tool = agent.orElseThrow().tool(call.tool()).orElseThrow();
        int dispatch = step.dispatch();
        ToolInput input = tool.hasEffect()
                ? new ToolInput(
                        call.id(),
                        dispatch,
                        call.args(),
                        Optional.of(Workflow.getInfo().getRunId()),
                        call.repeat(),
                        session)
                : new ToolInput(call.id(), dispatch, call.args(), session);
        if (!fitsIntoTask(sizeOf(input))) {
            return false;
        }
        facts.accept(new Fact.ToolDispatched(call.id(), dispatch));
        Duration timeout = tool.hasEffect() ? tool.timeout().plus(CLAIM_TIMEOUT) : tool.timeout();
        ActivityOptions options = options(timeout.plus(GRACE).plus(TURN_TIMEOUT), call.id())
                .setHeartbeatTimeout(HEARTBEAT_TIMEOUT)
                .setRetryOptions(tool.hasEffect() ? NO_RETRIES : SAFE_RETRIES)
                .build();
        begin(
                "call " + call.id() + " " + dispatch,
                state -> isRunning(state, call.id(), dispatch),
                () -> run(options, tool.name(), ToolOutcome.class, input),
                outcome -> outcome.toFact(call.id(), dispatch),
                failure -> new Fact.ToolLost(call.id(), dispatch, ActivityFailures.problem(failure)));
        return true;
    }

    /** Has it found out whether a lost call took effect. */
    boolean verifyTool(Step.VerifyTool step, Optional<String> session) {
        Call call = step.call();
        ToolSpec tool = agent.orElseThrow().tool(call.tool()).orElseThrow();
        int dispatch = call.dispatches();
        VerifyInput input = new VerifyInput(
                call.id(),
                dispatch,
                call.tool(),
                call.args(),
                call.repeat(),
                call.claim().map(Call.Claim::token).orElse(0L),
                session);
        if (!fitsIntoTask(sizeOf(input))) {
            return false;
        }
        facts.accept(new Fact.VerifyDispatched(call.id(), dispatch));
        ActivityOptions options = options(tool.timeout().plus(GRACE), call.tool() + " " + call.id())
                .setHeartbeatTimeout(HEARTBEAT_TIMEOUT)
                .setRetryOptions(SAFE_RETRIES)
                .build();
        begin(
                "verify " + call.id() + " " + dispatch,
                state -> state.calls()
                        .get(call.id())
                        .filter(now -> now.status() == Call.Status.VERIFYING && now.dispatches() == dispatch)
                        .isPresent(),
                () -> run(options, WireNames.VERIFY_ACTIVITY, VerifyOutcome.class, input),
                outcome -> outcome.toFact(call.id(), dispatch),
                failure -> ActivityFailures.verify(call.id(), dispatch, failure));
        return true;
    }

    /** Begins a thread for a call to a subagent. It takes its agent's definition itself. */
    boolean startSubagent(
            String name,
            Call call,
            Optional<Json> context,
            Parent parent,
            Optional<RunLimits> limits,
            Optional<String> session,
            Optional<ThreadOwner> owner) {
        StartInput input = StartInput.ofSubagent(
                        call.tool(), String.valueOf(call.args().field("task")), context, parent, limits, session)
                .ownedBy(owner);
        if (!fitsIntoTask(sizeOf(input))) {
            return false;
        }
        facts.accept(new Fact.SubagentStarted(call.id(), parent.budget()));
        ChildWorkflowOptions options = ChildWorkflowOptions.newBuilder()
                .setWorkflowId(name)
                .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
                .setParentClosePolicy(ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL)
                .setCancellationType(ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED)
                .setStaticSummary(call.tool() + " " + call.id())
                .build();
        ChildWorkflowStub child = Workflow.newUntypedChildWorkflowStub(WireNames.WORKFLOW_TYPE, options);
        String key = SUBAGENT + call.id();
        // A request to cancel a thread that is only about to begin may find none, and it would go on for ever.
        Promise<Boolean> begun = child.getExecution().handle((execution, failure) -> true);
        begin(
                key,
                state -> state.calls()
                        .get(call.id())
                        .filter(now -> now.status() == Call.Status.DELEGATED)
                        .isPresent(),
                begun::isCompleted,
                () -> child.executeAsync(RunOutcome.class, input),
                outcome -> outcome.toFact(call.id()),
                failure -> ActivityFailures.subagent(call.id(), failure));
        begun.thenApply(yes -> {
            anotherTaskDue = true;
            return null;
        });
        return true;
    }

    /**
     * Signals another thread. Threads end, and then there is nobody to tell: what becomes of the signal is not asked for.
     */
    boolean signal(String to, String signal, Object body, Fact sent) {
        String key = "signal " + to;
        if (flights.containsKey(key) || !fitsIntoTask(sizeOf(body))) {
            return false;
        }
        ExternalWorkflowStub thread = Workflow.newUntypedExternalWorkflowStub(to);
        CancellationScope scope = Workflow.newCancellationScope(() -> Async.procedure(() -> {
                    // Where the command is made, and not where it is decided on: history has it in this order.
                    facts.accept(sent);
                    thread.signal(signal, body);
                })
                .handle((nothing, failure) -> {
                    flights.remove(key);
                    anotherTaskDue = true;
                    return null;
                }));
        start(
                key,
                new Flight(scope, state -> true, () -> true, Workflow.getInfo().getHistoryLength()));
        return true;
    }

    /** Whether nothing but subagents is under way. */
    boolean onlySubagentsAreUp() {
        return flights.keySet().stream().allMatch(key -> key.startsWith(SUBAGENT));
    }

    /**
     * Cancels what the state no longer waits for. An activity that was scheduled in this very workflow task is left until
     * the next one: cancelling it now would take its scheduling out of history, and a reader of history would miss a
     * fact that the state has.
     */
    void cancelUnwanted(Conversation state) {
        anotherTaskDue = false;
        for (Flight flight : flights.values()) {
            if (!flight.cancelled && !flight.wanted.test(state)) {
                if (flight.task >= Workflow.getInfo().getHistoryLength()) {
                    askForAnotherTask();
                } else if (flight.cancellable.getAsBoolean()) {
                    flight.cancelled = true;
                    flight.scope.cancel();
                }
            }
        }
    }

    private static boolean isRunning(Conversation state, String callId, int dispatch) {
        return state.calls()
                .get(callId)
                .filter(call -> call.status() == Call.Status.DISPATCHED || call.status() == Call.Status.CLAIMED)
                .filter(call -> call.dispatches() == dispatch)
                .isPresent();
    }

    private <R> void begin(
            String key,
            Predicate<Conversation> wanted,
            Supplier<Promise<R>> activity,
            Function<R, Fact> onResult,
            Function<RuntimeException, Fact> onFailure) {
        begin(key, wanted, () -> true, activity, onResult, onFailure);
    }

    private <R> void begin(
            String key,
            Predicate<Conversation> wanted,
            BooleanSupplier cancellable,
            Supplier<Promise<R>> activity,
            Function<R, Fact> onResult,
            Function<RuntimeException, Fact> onFailure) {
        CancellationScope scope =
                Workflow.newCancellationScope(() -> activity.get().handle((result, failure) -> {
                    flights.remove(key);
                    facts.accept(failure == null && result != null ? onResult.apply(result) : onFailure.apply(failure));
                    return null;
                }));
        start(key, new Flight(scope, wanted, cancellable, Workflow.getInfo().getHistoryLength()));
    }

    private void start(String key, Flight flight) {
        flights.put(key, flight);
        flight.scope.run();
    }

    private static <R> Promise<R> run(ActivityOptions options, String type, Class<R> result, Object input) {
        return Workflow.newUntypedActivityStub(options).executeAsync(type, result, input);
    }

    private static ActivityOptions.Builder options(Duration timeout, String summary) {
        return ActivityOptions.newBuilder()
                .setStartToCloseTimeout(timeout)
                .setCancellationType(ActivityCancellationType.WAIT_CANCELLATION_COMPLETED)
                .setSummary(summary);
    }

    private boolean fitsIntoTask(int bytes) {
        long current = Workflow.getInfo().getHistoryLength();
        if (task != current) {
            task = current;
            bytesInTask = 0;
        }
        if (bytesInTask > 0 && bytesInTask + bytes > MOST_BYTES_PER_TASK) {
            askForAnotherTask();
            return false;
        }
        bytesInTask += bytes;
        return true;
    }

    private void askForAnotherTask() {
        if (timerSet) {
            return;
        }
        timerSet = true;
        Workflow.newTimer(Duration.ofMillis(1)).thenApply(fired -> {
            timerSet = false;
            // Whoever reads the history can't tell this timer from one that something waits for.
            facts.accept(new Fact.TimePassed());
            anotherTaskDue = true;
            return null;
        });
    }

    private static int sizeOf(Object input) {
        try {
            return PayloadJson.MAPPER.writeValueAsBytes(input).length;
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tool's input is always JSON", e);
        }
    }

    private static final class Flight {
        private final CancellationScope scope;
        private final Predicate<Conversation> wanted;
        private final BooleanSupplier cancellable;
        private final long task;
        private boolean cancelled;

        Flight(CancellationScope scope, Predicate<Conversation> wanted, BooleanSupplier cancellable, long task) {
            this.scope = scope;
            this.wanted = wanted;
            this.cancellable = cancellable;
            this.task = task;
        }
    }
}
