package dev.waymark.starter.worker;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.DeferredTools;
import dev.waymark.agent.FallbackModel;
import dev.waymark.agent.ModelOptions;
import dev.waymark.agent.Skills;
import dev.waymark.agent.ToolImplementation;
import dev.waymark.agent.ToolSpec;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.display.SafeText;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.tool.mcp.McpEntry;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@HelpEntry(
        group = CommandGroup.RUN_AGENTS,
        examples = {"agents", "agents --agents my-agents", "agents --schema"})
@Command(name = "agents", description = "Checks the agent files and lists them, with their models and tools.")
public final class AgentsCommand implements Callable<Integer> {

    @Mixin
    private Output output;

    @Mixin
    private AgentsOptions agents;

    @Option(names = "--schema", description = "Print the JSON schema of agent files, for editors, and do nothing else.")
    private boolean schema;

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Row(
            String name,
            Optional<String> description,
            String model,
            Optional<ModelOptions> options,
            Optional<Duration> silence,
            Optional<Duration> retryFor,
            Optional<Duration> fuse,

            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<FallbackModel> fallback,

            @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean fallbackOnRefusal,
            int maxTokens,
            int maxIterations,
            List<ToolRow> tools,

            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> servers,

            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Skills.Skill> skills,

            Optional<DeferredRow> deferred,

            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> perhapsUntrusted) {

        static Row of(AgentSpec agent, List<String> servers, List<String> perhapsUntrusted) {
            return new Row(
                    agent.name(),
                    agent.description(),
                    agent.model(),
                    agent.options(),
                    agent.silence(),
                    agent.retryFor(),
                    agent.fuse(),
                    agent.fallback(),
                    agent.fallbackOnRefusal(),
                    agent.maxTokens(),
                    agent.maxIterations(),
                    agent.tools().stream().map(ToolRow::of).toList(),
                    servers,
                    skillsOf(agent),
                    agent.deferred().map(tools -> new DeferredRow(tools.count(), tools.packedBytes())),
                    perhapsUntrusted);
        }
    }

    /** The deferred tools of an agent, without those of MCP servers. */
    record DeferredRow(int count, int packedBytes) {}

    record ToolRow(String name, ToolSpec.Kind kind, boolean safeToRetry) {

        static ToolRow of(ToolSpec tool) {
            return new ToolRow(tool.name(), tool.kind(), !tool.hasEffect());
        }
    }

    @Override
    public Integer call() throws Exception {
        if (schema) {
            output.line(AgentDirectory.schema().stripTrailing());
            return ExitCode.DONE;
        }
        WorkerLog.toStderr(output.isVerbose());
        try {
            list(agents.load());
        } catch (AgentInvalid e) {
            AgentsOptions.Setup valid = agents.loadValid(problem -> {});
            if (!output.isJson() && !valid.agents().names().isEmpty()) {
                list(valid);
            }
            throw e;
        }
        return ExitCode.DONE;
    }

    private void list(AgentsOptions.Setup setup) {
        setup.warnings().forEach(output::note);
        Collection<AgentSpec> all = setup.agents().agents().values();
        if (output.isJson()) {
            output.document(all.stream()
                    .map(agent -> Row.of(agent, servers(setup, agent), perhapsUntrusted(setup, agent)))
                    .toList());
            return;
        }
        if (all.isEmpty()) {
            output.note("No agents in " + setup.agents().path() + ". Add a file NAME.yaml.");
        }
        int nameWidth =
                all.stream().mapToInt(agent -> agent.name().length()).max().orElse(0);
        int modelWidth =
                all.stream().mapToInt(agent -> model(agent).length()).max().orElse(0);
        for (AgentSpec agent : all) {
            String tools = Stream.of(
                            agent.tools().stream().map(AgentsCommand::words),
                            setup.agents().servers(agent.name()).stream().map(AgentsCommand::words),
                            skillsOf(agent).stream().map(skill -> skill.name() + " (skill)"),
                            agent.deferred().filter(own -> own.count() > 0).stream()
                                    .map(AgentsCommand::words))
                    .flatMap(words -> words)
                    .collect(Collectors.joining(", "));
            output.line(
                    String.format("%-" + nameWidth + "s  %-" + modelWidth + "s  %s", agent.name(), model(agent), tools)
                            .stripTrailing());
        }
        for (AgentSpec agent : all) {
            List<String> names = perhapsUntrusted(setup, agent);
            if (!names.isEmpty()) {
                output.note(agent.name() + ": if strangers write what these return, set untrusted: true: "
                        + SafeText.line(String.join(", ", names)));
            }
        }
    }

    /** The MCP servers that are not trusted, and the HTTP tools that read, unless the agent marks them as untrusted. */
    private static List<String> perhapsUntrusted(AgentsOptions.Setup setup, AgentSpec agent) {
        return Stream.concat(
                        setup.agents().servers(agent.name()).stream()
                                .filter(entry -> !entry.trust() && !entry.untrusted())
                                .map(entry -> entry.server().name() + " (MCP)"),
                        agent.allTools().stream()
                                .filter(tool -> !tool.untrusted()
                                        && tool.implementation() instanceof ToolImplementation.Http http
                                        && http.endpoint().method().reads())
                                .map(ToolSpec::name))
                .toList();
    }

    private static String model(AgentSpec agent) {
        return Stream.concat(
                        Stream.of(model(agent.model(), agent.options(), agent.silence())),
                        agent.fallback().stream().map(other -> model(other.model(), other.options(), other.silence())))
                .collect(Collectors.joining(agent.fallbackOnRefusal() ? ", else (also if it refuses) " : ", else "));
    }

    private static String model(String name, Optional<ModelOptions> chosen, Optional<Duration> silence) {
        Stream<String> options = chosen.stream()
                .flatMap(all -> all.values().entrySet().stream())
                .map(option -> option.getKey().field() + " " + option.getValue());
        Stream<String> limit = silence.stream().map(most -> "silence " + most.toSeconds() + "s");
        String settings = Stream.concat(options, limit).collect(Collectors.joining(", "));
        return settings.isEmpty() ? name : name + " (" + settings + ")";
    }

    private static List<Skills.Skill> skillsOf(AgentSpec agent) {
        return agent.skills().map(Skills::found).orElse(List.of());
    }

    private static String words(ToolSpec tool) {
        return tool.kind() == ToolSpec.Kind.SUBAGENT ? tool.name() + " (subagent)" : tool.name();
    }

    private static String words(McpEntry entry) {
        return entry.server().name() + (entry.deferred() ? " (MCP, deferred)" : " (MCP)");
    }

    private static String words(DeferredTools tools) {
        return tools.count() + " deferred (" + tools.packedBytes() + " bytes packed)";
    }

    /** Returns the names of the MCP servers. Their tools are not listed, because that takes requests to them. */
    private static List<String> servers(AgentsOptions.Setup setup, AgentSpec agent) {
        return setup.agents().servers(agent.name()).stream()
                .map(entry -> entry.server().name())
                .toList();
    }
}
