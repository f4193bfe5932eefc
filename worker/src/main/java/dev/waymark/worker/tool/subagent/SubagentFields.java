package dev.waymark.worker.tool.subagent;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolNames;
import dev.waymark.agent.ToolSpec;
import dev.waymark.worker.yaml.YamlProblem;
import dev.waymark.worker.yaml.YamlValue;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Reads the subagents of an agent file, which are names of other agents: {@code subagents: [researcher]}. */
public final class SubagentFields {
    private SubagentFields() {}

    /**
     * Returns the tool that calls a subagent.
     *
     * @param subagent the name in the agent file
     * @param others the agents of the directory
     * @param tools the agent's other tools
     */
    public static ToolSpec tool(YamlValue subagent, Map<String, AgentSpec> others, List<ToolSpec> tools)
            throws YamlProblem {
        String name = name(subagent, others.keySet());
        AgentSpec other = Objects.requireNonNull(others.get(name));
        if (ToolNames.isTaken(name)) {
            throw subagent.problem("this name is reserved: " + name);
        }
        if (tools.stream().anyMatch(tool -> tool.name().equals(name))) {
            throw subagent.problem("duplicate tool name: " + name);
        }
        return ToolSpec.subagent(name, other.description().orElse(""));
    }

    /** Reads the name of a subagent, and rejects unknown agents. */
    public static String name(YamlValue subagent, Collection<String> known) throws YamlProblem {
        String name = subagent.text();
        if (!known.contains(name)) {
            throw subagent.problem("no such agent: " + name + ". Known agents: " + String.join(", ", known));
        }
        return name;
    }
}
