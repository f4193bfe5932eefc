package dev.waymark.worker.tool.subagent;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.value.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Checks that every subagent exists, that there are no cycles and not too many levels, and that prices are known for
 * budgets in dollars.
 */
public final class SubagentGraph {
    private final Map<String, AgentSpec> agents;
    private final Predicate<AgentSpec> hasPrice;

    /**
     * @param agents all agents by name
     * @param hasPrice whether the prices of all models of an agent are known
     */
    public SubagentGraph(Map<String, AgentSpec> agents, Predicate<AgentSpec> hasPrice) {
        this.agents = agents;
        this.hasPrice = hasPrice;
    }

    /** The first problem with the subagents of this agent, if any. */
    public Optional<String> problem(AgentSpec agent) {
        boolean inDollars = agent.budget().flatMap(Budget::usd).isPresent();
        return problem(agent, inDollars, List.of(agent.name()));
    }

    private Optional<String> problem(AgentSpec agent, boolean inDollars, List<String> path) {
        for (ToolSpec tool : agent.allTools()) {
            if (tool.kind() == ToolSpec.Kind.SUBAGENT) {
                List<String> deeper = new ArrayList<>(path);
                deeper.add(tool.name());
                Optional<String> problem = problem(tool.name(), inDollars, path.contains(tool.name()), deeper);
                if (problem.isPresent()) {
                    return problem;
                }
            }
        }
        return Optional.empty();
    }

    private Optional<String> problem(String name, boolean inDollars, boolean seen, List<String> path) {
        if (!agents.containsKey(name)) {
            return Optional.of("no such agent: " + name + ". Known agents: " + String.join(", ", agents.keySet()));
        }
        if (seen) {
            return Optional.of("an agent can't be its own subagent: " + String.join(" → ", path));
        }
        if (inDollars && !hasPrice.test(agents.get(name))) {
            return Optional.of("no price is known for the model of " + name + ", and the budget of " + path.get(0)
                    + " is in dollars. Set `pricing` for " + name);
        }
        return path.size() > Conversation.MAX_DEPTH + 1
                ? Optional.of("subagents can be nested " + Conversation.MAX_DEPTH + " deep at most: "
                        + String.join(" → ", path))
                : problem(agents.get(name), inDollars, path);
    }
}
