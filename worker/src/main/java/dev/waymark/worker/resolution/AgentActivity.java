package dev.waymark.worker.resolution;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.AgentInput;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The {@code agent} activity, as Temporal sees it. */
@ActivityInterface
public interface AgentActivity {
    @ActivityMethod(name = WireNames.AGENT_ACTIVITY)
    AgentSpec resolve(AgentInput input);
}
