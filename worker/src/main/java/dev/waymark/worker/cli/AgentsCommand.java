package dev.waymark.worker.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists the agents of a directory, once all of them have been checked. */
@Command(name = "agents", description = "Checks the agent files and lists them, with their models and tools.")
public final class AgentsCommand implements Callable<Integer> {

    @Mixin
    private OutputOptions output;

    @Mixin
    private AgentsOptions agents;

    @JsonInclude(JsonInclude.Include.NON_ABSENT)
    record Row(
            @JsonProperty("name") String name,
            @JsonProperty("description") Optional<String> description,
            @JsonProperty("model") String model,
            @JsonProperty("maxTokens") int maxTokens,
            @JsonProperty("maxIterations") int maxIterations,
            @JsonProperty("tools") List<ToolRow> tools) {

        static Row of(AgentSpec agent) {
            return new Row(
                    agent.name(),
                    agent.description(),
                    agent.model(),
                    agent.maxTokens(),
                    agent.maxIterations(),
                    agent.tools().stream().map(ToolRow::of).toList());
        }
    }

    record ToolRow(
            @JsonProperty("name") String name,
            @JsonProperty("kind") ToolSpec.Kind kind,
            @JsonProperty("safeToRetry") boolean safeToRetry) {

        static ToolRow of(ToolSpec tool) {
            return new ToolRow(tool.name(), tool.kind(), tool.safeToRetry());
        }
    }

    @Override
    public Integer call() throws Exception {
        output.applyToLogging();
        AgentsOptions.Setup setup = agents.load();
        setup.warnings().forEach(output::tell);
        Collection<AgentSpec> all = setup.agents().agents().values();
        if (output.isJson()) {
            output.printJson(all.stream().map(Row::of).toList());
            return ExitCodes.DONE;
        }
        if (all.isEmpty()) {
            output.tell("No agents in " + setup.agents().path() + ": every *.yaml there would be one.");
        }
        int nameWidth =
                all.stream().mapToInt(agent -> agent.name().length()).max().orElse(0);
        int modelWidth =
                all.stream().mapToInt(agent -> agent.model().length()).max().orElse(0);
        for (AgentSpec agent : all) {
            String tools =
                    String.join(", ", agent.tools().stream().map(ToolSpec::name).toList());
            output.print(
                    String.format("%-" + nameWidth + "s  %-" + modelWidth + "s  %s", agent.name(), agent.model(), tools)
                            .stripTrailing());
        }
        return ExitCodes.DONE;
    }
}
