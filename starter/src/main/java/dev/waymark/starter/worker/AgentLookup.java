package dev.waymark.starter.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.display.Suggestion;
import dev.waymark.starter.render.CommandErrors;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.tool.ToolKinds;
import dev.waymark.worker.tool.mcp.McpDiscovery;
import io.temporal.failure.ApplicationFailure;
import java.util.ArrayList;
import java.util.List;

/** Finds an agent of the agent files, with the tools of its MCP servers, as a new thread would have it. */
final class AgentLookup {
    private AgentLookup() {}

    /** What a command does with an agent. */
    interface Use {
        int with(AgentSpec agent, AgentsOptions.Setup setup, ToolKinds kinds) throws Exception;
    }

    static int find(AgentsOptions agents, String name, Output output, Use use) throws Exception {
        List<AgentInvalid> invalid = new ArrayList<>();
        AgentsOptions.Setup setup = agents.loadValid(invalid::add);
        boolean isKnown = setup.agents().find(name).isPresent();
        for (AgentInvalid problem : invalid) {
            if (!isKnown && problem.agent().equals(name)) {
                throw problem;
            }
            CommandErrors.of(problem).lines().forEach(output::note);
        }
        AgentSpec found = setup.agents()
                .find(name)
                .orElseThrow(() -> unknown(
                        "agent",
                        name,
                        setup.agents().names(),
                        ", in " + setup.agents().path() + ". Another directory is named with --agents"));
        try (ToolKinds kinds =
                new ToolKinds(ProcessEnvironment.get(), setup.agents().path(), setup.tools())) {
            return use.with(complete(found, setup, kinds.discovery()), setup, kinds);
        }
    }

    private static AgentSpec complete(AgentSpec agent, AgentsOptions.Setup setup, McpDiscovery discovery)
            throws InterruptedException, CommandFailure {
        try {
            return discovery.complete(agent, setup.agents().servers(agent.name()));
        } catch (ApplicationFailure e) {
            throw new CommandFailure(ExitCode.FAILED, e.getType(), e.getOriginalMessage(), "");
        }
    }

    static ToolSpec tool(AgentSpec agent, String name) throws CommandFailure {
        return agent.tool(name)
                .orElseThrow(() -> unknown(
                        "tool", name, agent.tools().stream().map(ToolSpec::name).toList(), ""));
    }

    static Json arguments(String json) throws CommandFailure {
        try {
            Json args = PayloadJson.MAPPER.readValue(json, Json.class);
            if (args.isObject()) {
                return args;
            }
        } catch (JsonProcessingException e) {
            // The error below is clearer.
        }
        throw new CommandFailure(
                ExitCode.BAD_INPUT,
                CommandError.BAD_INPUT,
                "arguments are not a JSON object: " + json,
                "Example: '{\"a\":1}'");
    }

    private static CommandFailure unknown(String what, String name, List<String> known, String where) {
        return new CommandFailure(
                ExitCode.NOT_FOUND,
                CommandError.NOT_FOUND,
                "no " + what + ": " + name,
                Suggestion.of(name, known)
                                .map(meant -> "Did you mean \"" + meant + "\"? ")
                                .orElse("")
                        + "Known: " + (known.isEmpty() ? "none" : String.join(", ", known)) + where);
    }
}
