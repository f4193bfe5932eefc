package dev.waymark.worker.workflow;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.contract.work.ActivityInput;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.contract.work.AnnounceInput;
import dev.waymark.contract.work.JudgeInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.contract.work.TaskInput;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.contract.work.VerifyInput;
import dev.waymark.contract.work.Work;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AbandonedTask;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.state.Announcement;
import io.temporal.activity.ActivityCancellationType;
import io.temporal.activity.ActivityOptions;
import io.temporal.api.enums.v1.ParentClosePolicy;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.common.RetryOptions;
import io.temporal.failure.ChildWorkflowFailure;
import io.temporal.workflow.Async;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.ChildWorkflowCancellationType;
import io.temporal.workflow.ChildWorkflowOptions;
import io.temporal.workflow.ChildWorkflowStub;
import io.temporal.workflow.ExternalWorkflowStub;
import io.temporal.workflow.Promise;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The running activities and subagents' threads, each in a separate cancellation scope, so that it can be cancelled
 * when the state no longer waits for it.
 *
 * <p>An outcome is applied as a fact in the completion callback, in history order.
 */
final class RunningWork {
    /**
     * How long an activity may be silent before the server treats its worker as lost, if repeating the activity costs
     * at most money.
     */
    static final Duration REPEATABLE_SILENCE = Duration.ofSeconds(5);
    /** Longer for calls that claim: the outcome of a claimed call that is wrongly treated as lost may stay unknown. */
    private static final Duration CLAIMED_SILENCE = Duration.ofSeconds(15);
    /** Rules are evaluated within seconds. */
    private static final Duration JUDGE_TIMEOUT = Duration.ofMinutes(1);

    /** A stopped thread waits at most this long until the server has been told. */
    private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(30);

    private static final Duration MODEL_TIMEOUT = Duration.ofMinutes(10);
    /** Time for a tool to get its claim. The tool gives up earlier. */
    private static final Duration CLAIM_TIMEOUT = Duration.ofSeconds(15);

    /** Resolving an agent is usually a lookup in a table, but MCP servers may have to be downloaded and started. */
    private static final Duration AGENT_TIMEOUT = Duration.ofMinutes(5);
    /** Time that a tool has to end after its own timeout, as part of the activity's timeout. */
    private static final Duration GRACE = Duration.ofSeconds(10);
    /** How long a tool may wait for a slot of its kind. The loss of its worker is noticed sooner. */
    private static final Duration SLOT_TIMEOUT = Duration.ofMinutes(10);
    /** The maximum size of the commands of a workflow task, in bytes: the server accepts messages of up to 4 MiB. */
    private static final int MOST_BYTES_PER_TASK = 3 * 1024 * 1024;

    private static final int MODEL_ATTEMPTS = 10;

    private static final RetryOptions MODEL_RETRIES = RetryOptions.newBuilder()
            .setInitialInterval(Duration.ofSeconds(1))
            .setMaximumInterval(Duration.ofSeconds(30))
            .setMaximumAttempts(MODEL_ATTEMPTS)
            .build();
    /** Limited, since a missing MCP server may never appear. */
    private static final RetryOptions AGENT_RETRIES = RetryOptions.newBuilder()
            .setInitialInterval(Duration.ofMillis(500))
            .setMaximumInterval(Duration.ofSeconds(5))
            .setMaximumAttempts(6)
            .build();

    /**
     * Each attempt asks once and sets the time of the next one, so that an open task adds no events to history. The
     * activity ends when the task has ended, or when a person stops it.
     */
    private static final RetryOptions FOLLOW_RETRIES = RetryOptions.newBuilder()
            .setInitialInterval(Duration.ofSeconds(1))
            .setMaximumInterval(Duration.ofMinutes(1))
            .build();

    /** An attempt of an announcement sends at most a few messages, and then sets the time of the next attempt. */
    private static final Duration ANNOUNCE_TIMEOUT = Duration.ofMinutes(10);

    private static final RetryOptions ANNOUNCE_RETRIES = RetryOptions.newBuilder()
            .setInitialInterval(Duration.ofSeconds(1))
            .setMaximumInterval(Announcement.LONGEST_PAUSE)
            .build();

    private static final RetryOptions SAFE_RETRIES =
            RetryOptions.newBuilder().setMaximumAttempts(5).build();
    private static final RetryOptions NO_RETRIES =
            RetryOptions.newBuilder().setMaximumAttempts(1).build();

    private final Consumer<Fact> facts;
    private final Supplier<Conversation> state;
    private final Function<String, Optional<String>> limitedQueues;
    private final Map<Work<?>, Running> running = new LinkedHashMap<>();
    /** The threads to which a signal is being sent. */
    private final Set<String> signalled = new LinkedHashSet<>();

    private Optional<AgentSpec> agent;
    private long task;
    private int bytesInTask;
    private boolean timerSet;
    private boolean anotherTaskDue;

    /**
     * @param facts receives what happens
     * @param state the state so far
     * @param agent the agent, if the previous run had resolved it
     * @param limitedQueues returns the task queue for the calls of a model; empty for that of the thread
     */
    RunningWork(
            Consumer<Fact> facts,
            Supplier<Conversation> state,
            Optional<AgentSpec> agent,
            Function<String, Optional<String>> limitedQueues) {
        this.facts = facts;
        this.state = state;
        this.agent = agent;
        this.limitedQueues = limitedQueues;
    }

    /** The agent, once it is resolved. */
    Optional<AgentSpec> agent() {
        return agent;
    }

    /** Called when the state of the previous run has arrived, with the agent that the previous run had resolved. */
    void continueWith(Optional<AgentSpec> resolved) {
        agent = resolved;
    }

    boolean isIdle() {
        return running.isEmpty() && signalled.isEmpty();
    }

    /**
     * Whether the main loop must run again: a timer for another workflow task fired, a subagent's thread started, or a
     * signal to another thread ended.
     */
    boolean wantsAnotherTask() {
        return anotherTaskDue;
    }

    boolean resolveAgent(Step.ResolveAgent step, int rules) {
        AgentInput input = new AgentInput(step.agent(), rules);
        facts.accept(input.work().begun());
        ActivityOptions options = options("agent " + step.agent(), AGENT_TIMEOUT, AGENT_RETRIES);
        begin(input.work(), input, WireNames.AGENT_ACTIVITY, options);
        return true;
    }

    /** Calls the model for a reply or a summary. The conversation already contains the fact that the call has begun. */
    void callModel(Optional<String> owner) {
        ModelInput input = ModelInput.of(state.get(), agent.orElseThrow(), owner);
        String summary = "step " + input.step() + (input.summary() ? ", a summary" : "");
        ActivityOptions.Builder options =
                ActivityOptions.newBuilder(options(summary, MODEL_TIMEOUT, modelRetries(agent.orElseThrow())));
        // The worker that schedules the call decides, and its settings may differ on replay: the state does not depend
        // on the task queue of an activity, and replay does not compare it.
        limitedQueues.apply(agent.orElseThrow().model()).ifPresent(options::setTaskQueue);
        begin(input.work(), input, WireNames.MODEL_ACTIVITY, options.build());
    }

    /**
     * If the agent limits the time of retries, the activity ends them. The number of attempts is still limited, because
     * a call that kills its workers never ends the retries.
     */
    private static RetryOptions modelRetries(AgentSpec agent) {
        return agent.retryFor()
                .map(most -> RetryOptions.newBuilder(MODEL_RETRIES)
                        .setMaximumAttempts(Math.toIntExact(MODEL_ATTEMPTS + most.toSeconds()))
                        .build())
                .orElse(MODEL_RETRIES);
    }

    /** Dispatches a call to a worker. Returns false if the commands of this workflow task would become too large. */
    boolean runTool(Step.RunTool step) {
        Call call = step.call();
        ToolSpec tool = agent.orElseThrow().tool(call.tool()).orElseThrow();
        int dispatch = step.dispatch();
        ToolInput input = new ToolInput(
                call.id(),
                dispatch,
                call.args(),
                tool.hasEffect() ? Optional.of(Workflow.getInfo().getRunId()) : Optional.empty(),
                tool.hasEffect() ? call.repeat() : 0,
                state.get().session(),
                call.suspension().map(Suspension::forDelivery),
                state.get().approvedDefinitions(call),
                call.grant());
        ActivityOptions options = tool.hasEffect()
                ? options(call.id(), most(tool).plus(CLAIM_TIMEOUT), NO_RETRIES, CLAIMED_SILENCE)
                : options(call.id(), most(tool), SAFE_RETRIES);
        return beginIfItFits(input, tool.name(), options);
    }

    /** Asks the agent's rules about a call. */
    boolean judge(Step.Judge step, Optional<String> owner) {
        Call call = step.call();
        JudgeInput input = JudgeInput.of(call, state.get(), owner);
        // After a reset, a judge activity for this call may still be running although its cause was undone.
        return !running.containsKey(input.work())
                && beginIfItFits(input, WireNames.JUDGE_ACTIVITY, options(nameOf(call), JUDGE_TIMEOUT, AGENT_RETRIES));
    }

    /** Starts to check whether a lost call took effect. */
    boolean verifyTool(Step.VerifyTool step) {
        Call call = step.call();
        ToolSpec tool = agent.orElseThrow().tool(call.tool()).orElseThrow();
        VerifyInput input = new VerifyInput(
                call.id(),
                call.dispatches(),
                call.tool(),
                call.args(),
                call.repeat(),
                call.claim().map(Call.Claim::token).orElse(0L),
                state.get().session());
        return beginIfItFits(input, WireNames.VERIFY_ACTIVITY, options(nameOf(call), most(tool), SAFE_RETRIES));
    }

    /** Lets a worker ask a server for the status of a call's task, until the task has ended or needs input. */
    boolean followTask(Step.FollowTask step) {
        Call call = step.call();
        ToolSpec tool = agent.orElseThrow().tool(call.tool()).orElseThrow();
        TaskInput input = TaskInput.following(
                call.id(), call.dispatches(), call.tool(), call.suspension().orElseThrow());
        return !running.containsKey(input.work())
                && beginIfItFits(input, WireNames.TASK_ACTIVITY, options(nameOf(call), most(tool), FOLLOW_RETRIES));
    }

    /** Lets a worker tell a server that the result of its task is no longer needed. */
    boolean cancelTask(Step.CancelTask step) {
        AbandonedTask task = step.task();
        TaskInput input = TaskInput.cancelling(task.callId(), task.tool(), task.task());
        String summary = task.tool() + " " + task.callId() + ", to cancel it";
        return !running.containsKey(input.work())
                && beginIfItFits(input, WireNames.TASK_ACTIVITY, options(summary, CANCEL_TIMEOUT, SAFE_RETRIES));
    }

    /** Lets a worker notify a receiver: of a request for as long as it waits, of anything else for up to a day. */
    boolean announce(Step.Announce step) {
        Announcement what = step.what();
        String summary = what.receiver()
                + what.request().map(request -> ", " + request.callId()).orElse("");
        ActivityOptions.Builder options =
                ActivityOptions.newBuilder(options(summary, ANNOUNCE_TIMEOUT, ANNOUNCE_RETRIES));
        if (what.outcome().isPresent()) {
            Instant now = Instant.ofEpochMilli(Workflow.currentTimeMillis());
            Duration left = Duration.between(now, what.from().plus(Announcement.NEWS));
            options.setScheduleToCloseTimeout(left.compareTo(ANNOUNCE_TIMEOUT) < 0 ? ANNOUNCE_TIMEOUT : left);
        }
        return beginIfItFits(AnnounceInput.of(what, state.get()), WireNames.ANNOUNCE_ACTIVITY, options.build());
    }

    /** Starts a thread for a subagent call. The thread resolves its agent's definition itself. */
    boolean startSubagent(String name, StartInput input, boolean isIndexed) {
        if (!fitsIntoTask(sizeOf(input))) {
            return false;
        }
        facts.accept(input.work().begun());
        ChildWorkflowOptions.Builder options = ChildWorkflowOptions.newBuilder()
                .setWorkflowId(name)
                .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
                .setParentClosePolicy(ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL)
                .setCancellationType(ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED)
                .setStaticSummary(input.agent() + " " + input.work().callId());
        if (isIndexed) {
            options.setTypedSearchAttributes(ThreadIndex.starting(input.agent()).attributes());
        }
        ChildWorkflowStub child = Workflow.newUntypedChildWorkflowStub(WireNames.WORKFLOW_TYPE, options.build());
        // A cancellation sent before the thread has started might not reach it, and the thread would run forever.
        Promise<Boolean> begun = child.getExecution().handle((execution, failure) -> true);
        begin(input.work(), begun::isCompleted, () -> child.executeAsync(RunOutcome.class, input));
        begun.thenApply(yes -> {
            anotherTaskDue = true;
            return null;
        });
        return true;
    }

    /** Signals another thread. The result of the signal is ignored, since the thread may have ended. */
    boolean signal(String to, String signal, Object body, Fact sent) {
        if (signalled.contains(to) || !fitsIntoTask(sizeOf(body))) {
            return false;
        }
        ExternalWorkflowStub thread = Workflow.newUntypedExternalWorkflowStub(to);
        signalled.add(to);
        Workflow.newCancellationScope(() -> Async.procedure(() -> {
                            // Applied where the command is created and not where it is decided, to match the order in
                            // history.
                            facts.accept(sent);
                            thread.signal(signal, body);
                        })
                        .handle((nothing, failure) -> {
                            signalled.remove(to);
                            anotherTaskDue = true;
                            return null;
                        }))
                .run();
        return true;
    }

    /** Whether nothing but announcements is running. */
    boolean hasOnlyAnnouncements() {
        return !running.isEmpty()
                && signalled.isEmpty()
                && running.keySet().stream().allMatch(Work.Announce.class::isInstance);
    }

    /** Ends the announcements, so that the run can end. The next run starts them again. */
    void postponeAnnouncements() {
        running.forEach((work, each) -> {
            if (work instanceof Work.Announce) {
                cancel(each);
            }
        });
    }

    /** Whether nothing but subagents is running, and announcements, which can wait for the next run. */
    boolean hasOnlySubagents() {
        return signalled.isEmpty()
                && running.keySet().stream()
                        .allMatch(work -> work instanceof Work.Subagent || work instanceof Work.Announce);
    }

    /**
     * Cancels work that the state no longer waits for. An activity that was scheduled in this workflow task is
     * cancelled in the next one. Otherwise it would not appear in history, and a reader of history would miss a fact
     * that the state has.
     */
    void cancelUnwanted() {
        anotherTaskDue = false;
        for (Map.Entry<Work<?>, Running> each : running.entrySet()) {
            if (!each.getKey().isAwaited(state.get())) {
                cancel(each.getValue());
            }
        }
    }

    private void cancel(Running each) {
        if (each.cancelled) {
            return;
        }
        if (each.task >= Workflow.getInfo().getHistoryLength()) {
            askForAnotherTask();
        } else if (each.cancellable.getAsBoolean()) {
            each.cancelled = true;
            each.scope.cancel();
        }
    }

    /** Begins an activity, unless the commands of this workflow task would become too large. */
    private boolean beginIfItFits(ActivityInput input, String activity, ActivityOptions options) {
        if (!fitsIntoTask(sizeOf(input))) {
            return false;
        }
        facts.accept(input.work().begun());
        begin(input.work(), input, activity, options);
        return true;
    }

    private <R> void begin(Work<R> work, ActivityInput input, String activity, ActivityOptions options) {
        begin(
                work,
                () -> true,
                () -> Workflow.newUntypedActivityStub(options).executeAsync(activity, work.resultType(), input));
    }

    private <R> void begin(Work<R> work, BooleanSupplier cancellable, Supplier<Promise<R>> start) {
        CancellationScope scope =
                Workflow.newCancellationScope(() -> start.get().handle((result, failure) -> {
                    running.remove(work);
                    if (result instanceof AgentSpec resolved) {
                        agent = Optional.of(resolved);
                    }
                    if (failure == null && result != null) {
                        work.completed(result, state.get()).forEach(facts);
                    } else {
                        facts.accept(work.failed(cause(failure)));
                    }
                    return null;
                }));
        running.put(work, new Running(scope, cancellable, Workflow.getInfo().getHistoryLength()));
        scope.run();
    }

    private static @Nullable Throwable cause(@Nullable RuntimeException failure) {
        return failure instanceof ChildWorkflowFailure ? failure.getCause() : failure;
    }

    private static ActivityOptions options(String summary, Duration timeout, RetryOptions retries) {
        return options(summary, timeout, retries, REPEATABLE_SILENCE);
    }

    private static ActivityOptions options(String summary, Duration timeout, RetryOptions retries, Duration silence) {
        return ActivityOptions.newBuilder()
                .setStartToCloseTimeout(timeout)
                .setHeartbeatTimeout(silence)
                .setRetryOptions(retries)
                .setCancellationType(ActivityCancellationType.WAIT_CANCELLATION_COMPLETED)
                .setSummary(summary)
                .build();
    }

    /** The longest time for a tool's activity, which may have to wait for a slot. */
    private static Duration most(ToolSpec tool) {
        return tool.timeout().plus(GRACE).plus(SLOT_TIMEOUT);
    }

    private static String nameOf(Call call) {
        return call.tool() + " " + call.id();
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
            // In history, this timer looks like one that the conversation waits for, so it must cause the same fact.
            facts.accept(new ThreadFact.TimePassed());
            anotherTaskDue = true;
            return null;
        });
    }

    private static int sizeOf(Object input) {
        try {
            return PayloadJson.MAPPER.writeValueAsBytes(input).length;
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write the tool's input as JSON", e);
        }
    }

    private static final class Running {
        private final CancellationScope scope;
        private final BooleanSupplier cancellable;
        private final long task;
        private boolean cancelled;

        Running(CancellationScope scope, BooleanSupplier cancellable, long task) {
            this.scope = scope;
            this.cancellable = cancellable;
            this.task = task;
        }
    }
}
