package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.AgentInput;
import dev.waymark.contract.Names;
import io.temporal.activity.ActivityInterface;
import io.temporal.activity.ActivityMethod;

/** The {@code agent} activity as Temporal sees it. */
@ActivityInterface
public interface AgentResolver {
    @ActivityMethod(name = Names.AGENT_ACTIVITY)
    AgentSpec resolve(AgentInput input);
}
