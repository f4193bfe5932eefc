package dev.waymark.worker.agents;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.Conversation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What agents may make of each other: a subagent is one of the others, and none is above itself. */
final class Subagents {
    private final Map<String, AgentSpec> agents;

    /** {@code agents} has all of them, by name. */
    Subagents(Map<String, AgentSpec> agents) {
        this.agents = agents;
    }

    /** What is wrong with the subagents of this agent, or empty. */
    Optional<String> problem(AgentSpec agent) {
        return problem(agent, List.of(agent.name()));
    }

    private Optional<String> problem(AgentSpec agent, List<String> path) {
        for (ToolSpec tool : agent.tools()) {
            if (tool.kind() == ToolSpec.Kind.SUBAGENT) {
                List<String> deeper = new ArrayList<>(path);
                deeper.add(tool.name());
                Optional<String> problem = problem(tool.name(), path.contains(tool.name()), deeper);
                if (problem.isPresent()) {
                    return problem;
                }
            }
        }
        return Optional.empty();
    }

    private Optional<String> problem(String name, boolean seen, List<String> path) {
        if (!agents.containsKey(name)) {
            return Optional.of("no such agent: " + name + ". There is " + String.join(", ", agents.keySet()));
        }
        if (seen) {
            return Optional.of("an agent can't be below itself: " + String.join(" → ", path));
        }
        return path.size() > Conversation.MAX_DEPTH + 1
                ? Optional.of("subagents go " + Conversation.MAX_DEPTH + " deep at most: " + String.join(" → ", path))
                : problem(agents.get(name), path);
    }
}
