package dev.waymark.contract.work;

import dev.waymark.agent.AgentSpec;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The agents that a worker reports. Bounded, because it is the result of an activity. */
public record AgentList(List<Entry> agents) {
    /** The maximum number of agents; a worker reports no more. */
    public static final int MOST_AGENTS = 500;

    /** The maximum length of a description, in characters; longer ones are cut. */
    public static final int LONGEST_DESCRIPTION = 500;

    public AgentList {
        agents = agents == null ? List.of() : List.copyOf(agents);
    }

    /** An agent's name and what it says about itself. */
    public record Entry(String name, Optional<String> description) {}

    /** Returns the list of these agents, within the limits. */
    public static AgentList of(Collection<AgentSpec> agents) {
        return new AgentList(agents.stream()
                .limit(MOST_AGENTS)
                .map(agent -> new Entry(agent.name(), agent.description().map(AgentList::cut)))
                .toList());
    }

    private static String cut(String words) {
        return words.codePointCount(0, words.length()) <= LONGEST_DESCRIPTION
                ? words
                : words.substring(0, words.offsetByCodePoints(0, LONGEST_DESCRIPTION - 1)) + "…";
    }
}
