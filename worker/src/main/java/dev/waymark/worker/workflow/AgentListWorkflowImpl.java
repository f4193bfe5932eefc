package dev.waymark.worker.workflow;

import dev.waymark.agent.AgentList;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.AgentListWorkflow;
import io.temporal.activity.ActivityOptions;
import io.temporal.workflow.Workflow;
import java.time.Duration;

/** Returns what the worker that executes its only activity reports. */
public final class AgentListWorkflowImpl implements AgentListWorkflow {
    @Override
    public AgentList list() {
        ActivityOptions options = ActivityOptions.newBuilder()
                .setScheduleToCloseTimeout(Duration.ofSeconds(MOST_SECONDS))
                .build();
        return Workflow.newUntypedActivityStub(options).execute(WireNames.AGENTS_ACTIVITY, AgentList.class);
    }
}
