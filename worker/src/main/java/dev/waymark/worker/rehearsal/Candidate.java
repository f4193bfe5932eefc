package dev.waymark.worker.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.McpTool;
import dev.waymark.agent.ToolSpec;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.ModelProviders;
import dev.waymark.worker.tool.mcp.McpEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Agents to try: those of a directory, or the ones that the threads recorded, optionally with another model.
 *
 * @param name names the candidate in reports
 * @param agents empty for the recorded agents
 * @param providers the providers of the agents' models
 * @param checks what must hold for the decisions of an agent, by its name
 * @param model replaces the model of every agent, as {@code provider:model}
 */
public record Candidate(
        String name,
        Optional<AgentDirectory> agents,
        ModelProviders providers,
        Map<String, List<Check>> checks,
        Optional<String> model) {
    public Candidate {
        Objects.requireNonNull(name, "name");
    }

    /** This candidate with another model, which its name in reports says. */
    public Candidate withModel(String other) {
        return new Candidate(name + " with " + other, agents, providers, checks, Optional.of(other));
    }

    /**
     * The agent that this candidate has in place of a recorded one; empty if it has none of that name.
     *
     * <p>No MCP server is asked for its tools, because starting one may have effects. The agent has the tools that the
     * thread recorded for those of its servers that it still has and allows, with its own rules for them.
     */
    Optional<AgentSpec> inPlaceOf(AgentSpec recorded) {
        Optional<AgentSpec> own = agents.isEmpty()
                ? Optional.of(recorded)
                : agents.flatMap(all -> all.find(recorded.name())
                        .map(agent -> withToolsOf(all.servers(agent.name()), agent, recorded)));
        return own.map(agent -> model.map(agent::withModel).orElse(agent));
    }

    private static AgentSpec withToolsOf(List<McpEntry> servers, AgentSpec agent, AgentSpec recorded) {
        List<ToolSpec> tools = new ArrayList<>(agent.tools());
        for (McpEntry server : servers) {
            for (ToolSpec tool : recorded.tools()) {
                if (tool.implementation() instanceof McpTool mcp
                        && mcp.server().name().equals(server.server().name())
                        && server.allows(mcp.tool())
                        && agent.tool(tool.name()).isEmpty()) {
                    tools.add(
                            server.tool(tool.name(), mcp.tool(), tool.description(), tool.input(), !tool.hasEffect()));
                }
            }
        }
        return agent.with().tools(tools).build();
    }
}
