package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The agents that a worker reports. Bounded, because it is the result of an activity. */
public record AgentList(List<Entry> agents) {
    /** The maximum number of agents; a worker reports no more. */
    public static final int MOST_AGENTS = 500;

    /** The maximum length of a description, in characters; longer ones are cut. */
    public static final int LONGEST_DESCRIPTION = 500;

    public AgentList {
        agents = agents == null ? List.of() : List.copyOf(agents);
    }

    /**
     * An agent's name and what it says about itself.
     *
     * @param lacks what the worker lacks to call a model of the agent, such as a key
     * @param subagent whether another agent of the worker uses it as a subagent
     */
    public record Entry(
            String name,
            Optional<String> description,
            Optional<String> lacks,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean subagent) {}

    /**
     * Returns the list of these agents, within the limits.
     *
     * @param lacks returns what the worker lacks to call a model of the agent
     */
    public static AgentList of(Collection<AgentSpec> agents, Function<AgentSpec, Optional<String>> lacks) {
        Set<String> subagents = agents.stream()
                .flatMap(agent -> agent.allTools().stream())
                .filter(tool -> tool.kind() == ToolSpec.Kind.SUBAGENT)
                .map(ToolSpec::name)
                .collect(Collectors.toSet());
        return new AgentList(agents.stream()
                .limit(MOST_AGENTS)
                .map(agent -> new Entry(
                        agent.name(),
                        agent.description().map(AgentList::cut),
                        lacks.apply(agent).map(AgentList::cut),
                        subagents.contains(agent.name())))
                .toList());
    }

    private static String cut(String words) {
        return words.codePointCount(0, words.length()) <= LONGEST_DESCRIPTION
                ? words
                : words.substring(0, words.offsetByCodePoints(0, LONGEST_DESCRIPTION - 1)) + "…";
    }
}
