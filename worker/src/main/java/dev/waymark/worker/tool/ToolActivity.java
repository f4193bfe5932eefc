package dev.waymark.worker.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.message.ClaimRequest;
import dev.waymark.contract.message.LateOutcome;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.history.RunReader;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.CallLog;
import dev.waymark.worker.activity.Heartbeat;
import dev.waymark.worker.journal.ClaimJournal;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.ToolRun;
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

    @Override
    public Object execute(EncodedValues arguments) {
        ToolInput input = arguments.get(0, ToolInput.class);
        CallLog.name(input.callId());
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        try (Heartbeat heartbeat = Heartbeat.begin()) {
            RunReader.Setting setting =
                    ActivityProblems.reading(() -> runs.setting(info.getWorkflowId(), info.getWorkflowRunId()));
            Optional<ToolSpec> tool = setting.agent().tool(info.getActivityType());
            if (tool.isEmpty()) {
                return ToolOutcome.notDone(ToolTexts.failure("the agent has no tool " + info.getActivityType()));
            }
            ToolSpec found = tool.get();
            ToolRunner own = tools.in(setting.agent());
            ToolContext context = context(
                    input,
                    info.getActivityType(),
                    info.getWorkflowId(),
                    setting.context(),
                    setting.traceIds().traceparentOf(input.callId()));
            try (ToolSlots.Slot slot = tools.slot(found, info.getWorkflowId())) {
                heartbeat.stopAfter(found.timeout().plus(CLEANUP));
                ToolRun.ServerTurn server = ToolRun.ServerTurn.inThread(input.suspension());
                if (found.hasEffect()) {
                    return claimAndRun(own, found, input, info, context, server, heartbeat);
                }
                Optional<ToolOutcome> obstacle =
                        obstacle(own, found, input, execution(info), ProcessFence.in(found.timeout()));
                if (obstacle.isPresent()) {
                    return obstacle.get();
                }
                ToolOutcome outcome =
                        own.runSafe(setting.agent(), found, input.args(), context, server, heartbeat::isCancelled);
                heartbeat.awaitKeys();
                return outcome;
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
    }

    /**
     * Runs the tool if this execution gets the claim. The workflow trusts any result, so as long as another execution
     * may still get the claim, this one returns a result only with the claim, even for invalid arguments.
     */
    private ToolOutcome claimAndRun(
            ToolRunner own,
            ToolSpec tool,
            ToolInput input,
            ActivityInfo info,
            ToolContext context,
            ToolRun.ServerTurn server,
            Heartbeat heartbeat)
            throws InterruptedException {
        String execution = execution(info);
        if (info.getAttempt() > 1) {
            return ToolOutcome.notStarted(execution, "an earlier attempt may have run");
        }
        if (!input.run().equals(Optional.of(info.getWorkflowRunId()))) {
            return ToolOutcome.notStarted(execution, "it was decided in another run, before a reset");
        }
        if (stopping.getAsBoolean()) {
            return ToolOutcome.notStarted(execution, "the worker is stopping");
        }
        Optional<String> other =
                ActivityProblems.reading(() -> runs.continuedAs(info.getWorkflowId(), info.getWorkflowRunId()));
        if (other.isPresent()) {
            // An error result settles the call, because no execution in this thread can get a claim.
            return ToolOutcome.error(ToolTexts.failure(
                    "it was not run, because this thread continues as " + other.get() + ", which has the same call"));
        }
        try (ClaimJournal.Entry noted = journal.note(info, input.callId())) {
            try {
                return claimAndRun(own, tool, input, info, context, server, heartbeat, execution);
            } catch (InterruptedException e) {
                if (!heartbeat.isCancelled()) {
                    noted.keep(); // The worker stops, and the server is not told of the call.
                }
                throw e;
            }
        }
    }

    private static String execution(ActivityInfo info) {
        String nonce = UUID.randomUUID().toString().substring(0, 8);
        return ClaimRequest.execution(info.getWorkflowRunId(), info.getAttempt(), nonce);
    }

    private ToolOutcome claimAndRun(
            ToolRunner own,
            ToolSpec tool,
            ToolInput input,
            ActivityInfo info,
            ToolContext context,
            ToolRun.ServerTurn server,
            Heartbeat heartbeat,
            String execution)
            throws InterruptedException {
        // The fence starts before the claim, because the workflow assumes that the program has ended a certain time
        // after the grant.
        ProcessFence fence = ProcessFence.in(tool.timeout());
        ClaimRequest claim = new ClaimRequest(
                input.callId(),
                input.dispatch(),
                tool.name(),
                Sha256.hex(input.args().canonical()),
                input.repeat(),
                execution,
                input.grant());
        ClaimSender.Answer answer = claims.ask(info.getWorkflowId(), info.getWorkflowRunId(), claim);
        if (answer.refusal().isPresent()) {
            return ToolOutcome.notStarted(execution, answer.refusal().get());
        }
        heartbeat.pastTheLastStop();
        ToolContext fenced = context.withFencingToken(answer.token());
        ToolOutcome outcome = runClaimed(own, tool, input, fenced, fence, server, execution, heartbeat);
        heartbeat.awaitKeys();
        if (answer.token().isPresent()) {
            complete(info, new LateOutcome(input.callId(), input.dispatch(), execution, outcome));
        }
        return outcome;
    }

    private ToolOutcome runClaimed(
            ToolRunner own,
            ToolSpec tool,
            ToolInput input,
            ToolContext context,
            ProcessFence fence,
            ToolRun.ServerTurn server,
            String execution,
            Heartbeat heartbeat)
            throws InterruptedException {
        Optional<ToolOutcome> obstacle = obstacle(own, tool, input, execution, fence);
        if (obstacle.isPresent()) {
            return obstacle.get();
        }
        return own.run(new ToolRun(
                tool, input.args(), context, fence, Optional.of(execution), server, heartbeat::isCancelled));
    }

    /** Why the call must not run. Nobody is asked again about arguments that do not fit the tool any more. */
    private static Optional<ToolOutcome> obstacle(
            ToolRunner own, ToolSpec tool, ToolInput input, String execution, ProcessFence fence)
            throws InterruptedException {
        Optional<ToolOutcome> problem = own.problem(tool, input.args());
        return problem.isPresent() ? problem : own.changed(tool, input.definitions(), execution, fence);
    }

    /**
     * Completes the activity. If the server no longer waits for it, sends a known outcome to the workflow as a signal,
     * so that the effect is not lost.
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

    /** What a tool is told about the call that it executes, besides the arguments. */
    static ToolContext context(ToolInput input, String tool, String thread, Json carried, String traceparent) {
        String key = IdempotencyKey.of(input.session().orElse(thread), tool, input.args(), input.repeat());
        return new ToolContext(
                thread, input.callId(), tool, key, OptionalLong.empty(), carried, Optional.of(traceparent));
    }
}
