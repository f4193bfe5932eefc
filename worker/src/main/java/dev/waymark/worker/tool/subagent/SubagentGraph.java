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

/** What agents may make of each other: a subagent is one of the others, and none is above itself. */
public final class SubagentGraph {
    private final Map<String, AgentSpec> agents;
    private final Predicate<AgentSpec> hasPrice;

    /** {@code agents} has all of them, by name. {@code hasPrice} tells of which it is known what their models cost. */
    public SubagentGraph(Map<String, AgentSpec> agents, Predicate<AgentSpec> hasPrice) {
        this.agents = agents;
        this.hasPrice = hasPrice;
    }

    /** What is wrong with the subagents of this agent, or empty. */
    public Optional<String> problem(AgentSpec agent) {
        boolean inDollars = agent.budget().flatMap(Budget::usd).isPresent();
        return problem(agent, inDollars, List.of(agent.name()));
    }

    private Optional<String> problem(AgentSpec agent, boolean inDollars, List<String> path) {
        for (ToolSpec tool : agent.tools()) {
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
            return Optional.of("no such agent: " + name + ". There is " + String.join(", ", agents.keySet()));
        }
        if (seen) {
            return Optional.of("an agent can't be below itself: " + String.join(" → ", path));
        }
        if (inDollars && !hasPrice.test(agents.get(name))) {
            return Optional.of("nobody knows what the model of " + name + " costs, and the budget of " + path.get(0)
                    + " is in dollars: say it with pricing");
        }
        return path.size() > Conversation.MAX_DEPTH + 1
                ? Optional.of("subagents go " + Conversation.MAX_DEPTH + " deep at most: " + String.join(" → ", path))
                : problem(agents.get(name), inDollars, path);
    }
}
