package dev.waymark.worker.tool;

import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.TaskInput;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.history.RunReader;
import dev.waymark.worker.activity.ActivityProblems;
import dev.waymark.worker.activity.CallLog;
import dev.waymark.worker.activity.Heartbeat;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import java.time.Duration;
import java.util.Optional;

/**
 * Asks the server of a call's tool for the status of its task. Each attempt asks once: while the server works, the
 * attempt fails and sets the time of the next one, which may run in any worker.
 */
public final class TaskActivityImpl implements TaskActivity {
    private final RunReader runs;
    private final ToolRunner tools;

    public TaskActivityImpl(RunReader runs, ToolRunner tools) {
        this.runs = runs;
        this.tools = tools;
    }

    @Override
    public ToolOutcome attend(TaskInput input) {
        CallLog.name(input.callId());
        ActivityInfo info = Activity.getExecutionContext().getInfo();
        input.suspension().filter(task -> info.getAttempt() == 1).ifPresent(TaskActivityImpl::delayFirstPoll);
        try (Heartbeat heartbeat = Heartbeat.begin()) {
            RunReader.Setting setting =
                    ActivityProblems.reading(() -> runs.setting(info.getWorkflowId(), info.getWorkflowRunId()));
            Optional<ToolSpec> tool = setting.agent().tool(input.tool());
            if (tool.isEmpty()) {
                return ToolOutcome.unknown("the agent has no tool " + input.tool());
            }
            try (ToolSlots.Slot slot = tools.slot(tool.get(), info.getWorkflowId())) {
                heartbeat.stopAfter(tool.get().timeout().plus(ToolActivity.CLEANUP));
                ToolOutcome outcome = attend(tool.get(), input);
                heartbeat.awaitKeys();
                return outcome;
            } catch (InterruptedException e) {
                throw heartbeat.cancellation(e);
            }
        }
    }

    /** Delays the first request about a new task as its server wishes. Input is delivered at once. */
    private static void delayFirstPoll(Suspension task) {
        if (task.pollMillis() > 0 && task.answers().isEmpty()) {
            throw ActivityProblems.passing(
                    new Problem(ProblemType.TASK_WORKING, "the task has just begun"),
                    Optional.of(Duration.ofMillis(task.pollMillis())));
        }
    }

    private ToolOutcome attend(ToolSpec tool, TaskInput input) throws InterruptedException {
        if (input.cancel().isPresent()) {
            tools.cancel(tool, input.cancel().get());
            return ToolOutcome.result("");
        }
        return tools.follow(tool, input.suspension().orElseThrow());
    }
}
