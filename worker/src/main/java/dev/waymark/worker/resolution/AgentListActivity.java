package dev.waymark.worker.resolution;

import dev.waymark.agent.AgentList;
import dev.waymark.contract.WireNames;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The activity that lists a worker's agents, as Temporal sees it. */
@ActivityInterface
public interface AgentListActivity {
    @ActivityMethod(name = WireNames.AGENTS_ACTIVITY)
    AgentList list();
}
