package dev.waymark.worker.tool;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.message.ClaimRequest;
import dev.waymark.contract.message.LateOutcome;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.history.RunReader;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.CallLog;
import dev.waymark.worker.activity.Heartbeat;
import dev.waymark.worker.journal.ClaimJournal;
import dev.waymark.worker.process.ProcessFence;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import io.temporal.activity.DynamicActivity;
import io.temporal.activity.ManualActivityCompletionClient;
import io.temporal.client.ActivityCompletionException;
import io.temporal.common.converter.EncodedValues;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/**
 * Runs tools; the activity type is the tool's name. The tool's definition is the one recorded in the run's history, not
 * the one in this worker's files, which may have changed.
 *
 * <p>A tool with side effects runs only after its workflow has granted this execution a claim. If something prevents
 * the tool from running, the outcome says so, so that the workflow knows that nothing happened.
 */
public final class ToolActivity implements DynamicActivity {
    /**
     * Time that a tool has to end after its timeout. After that, heartbeats stop and the server treats the activity as
     * lost.
     */
    static final Duration CLEANUP = Duration.ofSeconds(10);

    private final RunReader runs;
    private final ToolRunner tools;
    private final ClaimSender claims;
    private final LateOutcomeSender lateOutcomes;
    private final ClaimJournal journal;
    private final BooleanSupplier stopping;

    /** @param stopping whether this worker no longer starts tools with side effects */
    public ToolActivity(
            RunReader runs,
            ToolRunner tools,
            ClaimSender claims,
            LateOutcomeSender lateOutcomes,
            ClaimJournal journal,
            BooleanSupplier stopping) {
        this.runs = runs;
        this.tools = tools;
        this.claims = claims;
        this.lateOutcomes = lateOutcomes;
        this.journal = journal;
        this.stopping = stopping;
    }

    /**
     * One execution of a call.
     *
     * @param id the id under which it claims the call
     * @param tools runs the tools of the call's agent
     */
    private record Execution(String id, ToolRunner tools, DispatchedCall call, ActivityInfo info, Heartbeat heartbeat) {
        static Execution of(ToolRunner tools, DispatchedCall call, ActivityInfo info, Heartbeat heartbeat) {
            String nonce = UUID.randomUUID().toString().substring(0, 8);
            String id = ClaimRequest.execution(info.getWorkflowRunId(), info.getAttempt(), nonce);
            return new Execution(id, tools, call, info, heartbeat);
        }

        ToolOutcome notStarted(String why) {
            return ToolOutcome.notStarted(id, why);
        }

        ClaimRequest claim() {
            ToolInput input = call.input();
            return new ClaimRequest(
                    input.callId(),
                    input.dispatch(),
                    call.tool().name(),
                    Sha256.hex(input.args().canonical()),
                    input.repeat(),
                    id,
                    input.grant());
        }
    }

    @Override
    public Object execute(EncodedValues arguments) {
        ToolInput input = arguments.get(0, ToolInput.class);
        CallLog.name(input.callId());
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        String thread = info.getWorkflowId();
        try (Heartbeat heartbeat = Heartbeat.begin()) {
            RunReader.Setting setting = ActivityProblems.reading(() -> runs.setting(thread, info.getWorkflowRunId()));
            AgentSpec agent = setting.agent();
            Optional<ToolSpec> tool = agent.tool(info.getActivityType());
            if (tool.isEmpty()) {
                return ToolOutcome.notDone(ToolTexts.failure("the agent has no tool " + info.getActivityType()));
            }
            DispatchedCall call = DispatchedCall.of(tool.get(), input, thread, setting.context(), setting.traceIds());
            Execution execution = Execution.of(tools.in(agent), call, info, heartbeat);
            try (ToolSlots.Slot slot = tools.slot(call.tool(), thread)) {
                heartbeat.stopAfter(call.most());
                return call.tool().hasEffect() ? claimAndRun(execution) : runSafe(execution, agent);
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
    }

    private static ToolOutcome runSafe(Execution execution, AgentSpec agent) throws InterruptedException {
        DispatchedCall call = execution.call();
        Optional<ToolOutcome> obstacle =
                obstacle(execution, ProcessFence.in(call.tool().timeout()));
        if (obstacle.isPresent()) {
            return obstacle.get();
        }
        ToolOutcome outcome = execution.tools().runSafe(agent, call, execution.heartbeat()::isCancelled);
        execution.heartbeat().awaitKeys();
        return outcome;
    }

    /**
     * Runs the tool if this execution gets the claim. The workflow trusts any result, so as long as another execution
     * may still get the claim, this one returns a result only with the claim, even for invalid arguments.
     */
    private ToolOutcome claimAndRun(Execution execution) throws InterruptedException {
        Optional<ToolOutcome> obstacle = claimObstacle(execution);
        if (obstacle.isPresent()) {
            return obstacle.get();
        }
        try (ClaimJournal.Entry noted =
                journal.note(execution.info(), execution.call().input().callId())) {
            try {
                return runIfGranted(execution);
            } catch (InterruptedException e) {
                if (!execution.heartbeat().isCancelled()) {
                    noted.keep(); // The worker stops without reporting the call to the server.
                }
                throw e;
            }
        }
    }

    /** Why this execution must not ask for the claim. */
    private Optional<ToolOutcome> claimObstacle(Execution execution) {
        ActivityInfo info = execution.info();
        if (info.getAttempt() > 1) {
            return Optional.of(execution.notStarted("an earlier attempt may have run"));
        }
        if (!execution.call().input().run().equals(Optional.of(info.getWorkflowRunId()))) {
            return Optional.of(execution.notStarted("it was decided in another run, before a reset"));
        }
        if (stopping.getAsBoolean()) {
            return Optional.of(execution.notStarted("the worker is stopping"));
        }
        // An error result settles the call, because no execution in this thread can get a claim.
        return ActivityProblems.reading(() -> runs.continuedAs(info.getWorkflowId(), info.getWorkflowRunId()))
                .map(other -> ToolOutcome.error(ToolTexts.failure(
                        "it was not run, because this thread continues as " + other + ", which has the same call")));
    }

    private ToolOutcome runIfGranted(Execution execution) throws InterruptedException {
        DispatchedCall call = execution.call();
        ActivityInfo info = execution.info();
        // The fence starts before the claim, because the workflow assumes that the program has ended a certain time
        // after the grant.
        ProcessFence fence = ProcessFence.in(call.tool().timeout());
        ClaimSender.Answer answer = claims.ask(info.getWorkflowId(), info.getWorkflowRunId(), execution.claim());
        if (answer.refusal().isPresent()) {
            return execution.notStarted(answer.refusal().get());
        }
        execution.heartbeat().interruptOnlyIfCancelled();
        ToolOutcome outcome = runGranted(execution, answer.token(), fence);
        execution.heartbeat().awaitKeys();
        if (answer.token().isPresent()) {
            ToolInput input = call.input();
            complete(info, new LateOutcome(input.callId(), input.dispatch(), execution.id(), outcome));
        }
        return outcome;
    }

    private static ToolOutcome runGranted(Execution execution, OptionalLong token, ProcessFence fence)
            throws InterruptedException {
        Optional<ToolOutcome> obstacle = obstacle(execution, fence);
        if (obstacle.isPresent()) {
            return obstacle.get();
        }
        DispatchedCall call = execution.call().withFencingToken(token);
        return execution
                .tools()
                .run(call.toolRun(fence, Optional.of(execution.id()), execution.heartbeat()::isCancelled));
    }

    /** Why the call must not run. If its arguments no longer fit the tool, nobody is asked for approval again. */
    private static Optional<ToolOutcome> obstacle(Execution execution, ProcessFence fence) throws InterruptedException {
        ToolSpec tool = execution.call().tool();
        ToolInput input = execution.call().input();
        Optional<ToolOutcome> problem = execution.tools().problem(tool, input.args());
        return problem.isPresent()
                ? problem
                : execution.tools().changed(tool, input.definitions(), execution.id(), fence);
    }

    /**
     * Completes the activity. If the server no longer accepts the completion, sends a known outcome to the workflow as
     * a signal, so that the effect is not lost.
     */
    private void complete(ActivityInfo info, LateOutcome end) throws InterruptedException {
        ManualActivityCompletionClient completion =
                Activity.getExecutionContext().useLocalManualCompletion();
        try {
            completion.complete(end.outcome());
        } catch (ActivityCompletionException e) {
            if (end.outcome().unknown().isEmpty()) {
                lateOutcomes.send(info.getWorkflowId(), end);
            }
        }
    }
}
