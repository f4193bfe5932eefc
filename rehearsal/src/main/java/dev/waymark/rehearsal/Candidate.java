package dev.waymark.rehearsal;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.McpTool;
import dev.waymark.agent.Pricing;
import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.call.Call;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.tool.kind.ToolPrograms;
import dev.waymark.worker.tool.kind.UnknownDefinitionException;
import dev.waymark.worker.tool.mcp.McpEntry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Agents to try: those of a directory, or the ones that the threads recorded, optionally with another model.
 *
 * @param name names the candidate in reports
 * @param agents empty for the recorded agents
 * @param providers the providers of the agents' models
 * @param checks what must hold for the replies of an agent, by its name
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

    /** Returns this candidate with another model, and adds the model to its name in reports. */
    public Candidate withModel(String other) {
        return new Candidate(name + " with " + other, agents, providers, checks, Optional.of(other));
    }

    /**
     * Returns this candidate's agent with the name of a recorded one; empty if it has none of that name.
     *
     * <p>No MCP server is asked for its tools, because starting one may have effects. The agent gets the
     * MCP tools that the thread recorded, if it still has their server and allows them, with its own rules.
     */
    Optional<AgentSpec> inPlaceOf(AgentSpec recorded) {
        Optional<AgentSpec> own = agents.isEmpty()
                ? Optional.of(recorded)
                : agents.flatMap(all -> all.find(recorded.name())
                        .map(agent -> withToolsOf(all.servers(agent.name()), agent, recorded)));
        return own.map(agent -> model.map(agent::withModel).orElse(agent));
    }

    /**
     * Whether a subagent may have side effects: it has tools with side effects or of an MCP server, or such a subagent
     * of its own. An agent that this candidate does not know may have some.
     */
    boolean mayHaveEffects(String subagent) {
        Optional<AgentSpec> agent = agents.flatMap(all -> all.find(subagent));
        return agent.isEmpty()
                || !agents.get().servers(subagent).isEmpty()
                || agent.get().allTools().stream()
                        .anyMatch(tool -> tool.hasEffect()
                                || tool.kind() == ToolSpec.Kind.SUBAGENT && mayHaveEffects(tool.name()));
    }

    /** The price of a model, as far as this candidate knows it. */
    Optional<Pricing> pricing(AgentSpec agent, String model) {
        return agent.pricing()
                .filter(own -> agent.model().equals(model))
                .or(() -> providers.find(model).flatMap(ModelProviders.Bound::pricing));
    }

    /**
     * Describes for people what differs from a thread outside of its agent's definition: the agents that its calls
     * started, and the scripts of tools whose content the thread recorded, which it does for calls that rules or people
     * decide.
     *
     * @param recorded the thread's agent
     * @param agent the agent in its place
     * @param calls the thread's calls
     * @param started finds the agent that a call has started
     */
    Set<String> differences(
            AgentSpec recorded, AgentSpec agent, Collection<Call> calls, Function<Call, Optional<AgentSpec>> started) {
        Set<String> differences = new LinkedHashSet<>();
        if (agents.isEmpty()) {
            return differences;
        }
        Map<String, Call> defined = new LinkedHashMap<>();
        Map<String, Call> begun = new LinkedHashMap<>();
        for (Call call : calls) {
            call.definition().ifPresent(known -> defined.put(call.tool(), call));
            call.subagent().ifPresent(known -> begun.put(call.tool(), call));
        }
        defined.forEach((tool, call) -> {
            if (isOtherScript(
                    program(recorded, tool),
                    program(agent, tool),
                    call.definition().orElseThrow().digest())) {
                differences.add("the script of `" + tool + "`");
            }
        });
        begun.forEach((name, call) -> agents.get()
                .find(name)
                .ifPresent(now -> started.apply(call)
                        .ifPresent(before -> AgentDifferences.of(before, now)
                                .forEach(part -> differences.add("subagent `" + name + "`: " + part)))));
        return differences;
    }

    private static List<String> program(AgentSpec agent, String tool) {
        return agent.tool(tool)
                .filter(known -> known.kind() == ToolSpec.Kind.COMMAND)
                .map(known -> ((ToolImplementation.Command) known.implementation()).program())
                .orElse(List.of());
    }

    private boolean isOtherScript(List<String> before, List<String> now, String digest) {
        try {
            return !now.isEmpty()
                    && now.equals(before)
                    && !ToolPrograms.digest(agents.orElseThrow().path(), now).equals(digest);
        } catch (UnknownDefinitionException e) {
            return true;
        }
    }

    private static AgentSpec withToolsOf(List<McpEntry> servers, AgentSpec agent, AgentSpec recorded) {
        List<ToolSpec> sent = new ArrayList<>();
        List<ToolSpec> deferred = new ArrayList<>();
        for (McpEntry server : servers) {
            for (ToolSpec tool : recorded.allTools()) {
                if (tool.implementation() instanceof McpTool mcp
                        && mcp.server().name().equals(server.server().name())
                        && server.allows(mcp.tool())
                        && agent.tool(tool.name()).isEmpty()) {
                    (server.deferred() ? deferred : sent)
                            .add(server.tool(
                                    tool.name(), mcp.tool(), tool.description(), tool.input(), !tool.hasEffect()));
                }
            }
        }
        return agent.withMore(sent, deferred);
    }
}
