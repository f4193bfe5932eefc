package dev.waymark.worker.tool;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.TaskInput;
import dev.waymark.contract.work.ToolOutcome;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The activity that follows or cancels the task of a call's server, as Temporal sees it. */
@ActivityInterface
public interface TaskActivity {
    @ActivityMethod(name = WireNames.TASK_ACTIVITY)
    ToolOutcome attend(TaskInput input);
}
