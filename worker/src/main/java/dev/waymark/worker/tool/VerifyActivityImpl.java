package dev.waymark.worker.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.VerifyInput;
import dev.waymark.contract.work.VerifyOutcome;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.history.RunReader;
import dev.waymark.tool.ToolContext;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.CallLog;
import dev.waymark.worker.activity.Heartbeat;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.ToolRun;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import java.util.Optional;
import java.util.OptionalLong;

/** Asks the tool whether a lost call took effect, with the arguments and the idempotency key of that call. */
public final class VerifyActivityImpl implements VerifyActivity {
    private final RunReader runs;
    private final ToolRunner tools;

    public VerifyActivityImpl(RunReader runs, ToolRunner tools) {
        this.runs = runs;
        this.tools = tools;
    }

    @Override
    public VerifyOutcome verify(VerifyInput input) {
        CallLog.name(input.callId());
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        try (Heartbeat heartbeat = Heartbeat.begin()) {
            RunReader.Setting setting =
                    ActivityProblems.reading(() -> runs.setting(info.getWorkflowId(), info.getWorkflowRunId()));
            Optional<ToolSpec> tool = setting.agent().tool(input.tool());
            if (tool.isEmpty()) {
                return VerifyOutcome.unknown("the agent has no tool " + input.tool());
            }
            String session = input.session().orElse(info.getWorkflowId());
            String key = IdempotencyKey.of(session, input.tool(), input.args(), input.repeat());
            ToolContext context = new ToolContext(
                    info.getWorkflowId(),
                    input.callId(),
                    input.tool(),
                    key,
                    input.token() == 0 ? OptionalLong.empty() : OptionalLong.of(input.token()),
                    setting.context(),
                    Optional.of(setting.traceIds().traceparentOf(input.callId())));
            try (ToolSlots.Slot slot = tools.verifySlot(tool.get(), info.getWorkflowId())) {
                heartbeat.stopAfter(tool.get().timeout().plus(ToolActivity.CLEANUP));
                return tools.in(setting.agent())
                        .verify(ToolRun.unclaimed(
                                tool.get(),
                                input.args(),
                                context,
                                ProcessFence.in(tool.get().timeout()),
                                heartbeat::isCancelled));
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
    }
}
