package dev.waymark.starter.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.display.Suggestion;
import dev.waymark.starter.render.CommandErrors;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.tool.ToolKinds;
import dev.waymark.worker.tool.mcp.McpDiscovery;
import io.temporal.failure.ApplicationFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Parameters that name an agent, and the arguments of a call of one of its tools. Finds the agent in the agent files,
 * with the tools of its MCP servers, as a new thread would have it.
 */
final class AgentLookup {
    @Parameters(
            index = "0",
            paramLabel = "AGENT",
            description = "The agent's name: the name of its file without .yaml, unless the file sets name.")
    private String name;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "JSON",
            description = "Arguments, as a JSON object. Default: {}.")
    private @Nullable String args;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    /** What a command does with an agent. */
    interface Use {
        int with(AgentSpec agent, AgentsOptions.Setup setup, ToolKinds kinds) throws Exception;
    }

    String name() {
        return name;
    }

    /**
     * Finds the agent.
     *
     * @param call the tool to which the arguments belong, if one is named
     */
    int find(AgentsOptions agents, @Nullable String call, Output output, Use use) throws Exception {
        if (args != null && call == null) {
            throw new ParameterException(spec.commandLine(), "arguments without --call: " + args);
        }
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
                        "tool",
                        name,
                        agent.allTools().stream().map(ToolSpec::name).toList(),
                        ""));
    }

    /** The arguments of the call. */
    Json arguments() throws CommandFailure {
        String json = Optional.ofNullable(args).orElse("{}");
        try {
            Json args = PayloadJson.MAPPER.readValue(json, Json.class);
            if (args.isObject()) {
                return args;
            }
        } catch (JsonProcessingException e) {
            // The error below is clearer.
        }
        throw CommandFailure.badInput("arguments are not a JSON object: " + json, "Example: '{\"a\":1}'");
    }

    private static CommandFailure unknown(String what, String name, List<String> known, String where) {
        return new CommandFailure(
                ExitCode.NOT_FOUND,
                ProblemType.NOT_FOUND,
                "no " + what + ": " + name,
                Suggestion.of(name, known)
                                .map(meant -> "Did you mean \"" + meant + "\"? ")
                                .orElse("")
                        + "Known: " + (known.isEmpty() ? "none" : String.join(", ", known)) + where);
    }
}
