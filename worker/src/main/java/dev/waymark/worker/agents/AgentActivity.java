package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.AgentInput;
import dev.waymark.conversation.Problem;
import dev.waymark.worker.activity.ActivityProblems;

/** Finds the definition of an agent when a thread starts. What it returns is the thread's agent for ever. */
public final class AgentActivity implements AgentResolver {
    private final AgentDirectory agents;

    public AgentActivity(AgentDirectory agents) {
        this.agents = agents;
    }

    @Override
    public AgentSpec resolve(AgentInput input) {
        if (input.agent().isEmpty()) {
            return theOnlyOne();
        }
        return agents.find(input.agent())
                .orElseThrow(() -> ActivityProblems.permanent(new Problem(
                        Problem.NOT_FOUND,
                        "no agent \"" + input.agent() + "\"; there are " + String.join(", ", agents.names()))));
    }

    /** A conversation that comes from elsewhere may not say whose it is. */
    private AgentSpec theOnlyOne() {
        if (agents.names().size() != 1) {
            String all = agents.names().isEmpty() ? "none" : String.join(", ", agents.names());
            throw ActivityProblems.permanent(
                    new Problem(Problem.AGENT_INVALID, "no agent is named, and there is not just one: " + all));
        }
        return agents.find(agents.names().get(0)).orElseThrow();
    }
}
