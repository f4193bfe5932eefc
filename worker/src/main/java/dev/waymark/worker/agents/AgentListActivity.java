package dev.waymark.worker.agents;

import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.AgentList;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The activity that lists a worker's agents, as Temporal sees it. */
@ActivityInterface
public interface AgentListActivity {
    @ActivityMethod(name = WireNames.AGENTS_ACTIVITY)
    AgentList list();
}
