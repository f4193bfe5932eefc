package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.rehearsal.Candidate;
import dev.waymark.rehearsal.Check;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.model.ModelChecks;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.yaml.YamlProblem;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that name the agents to rehearse. */
final class CandidateOptions {
    @Mixin
    private AgentsOptions agents;

    @Option(
            names = "--recorded",
            description = "Try the agents that the threads recorded, instead of agent files or, with --agents, side by"
                    + " side with them.")
    private boolean recorded;

    @Option(
            names = "--model",
            paramLabel = "PROVIDER:MODEL",
            description = "Try the agents with this model instead of their own. Can be repeated, to try several.")
    private List<String> models = List.of();

    AgentsOptions agents() {
        return agents;
    }

    List<Candidate> read() throws AgentInvalid, IOException, CommandFailure {
        List<Candidate> candidates = new ArrayList<>();
        if (!recorded || agents.isNamed()) {
            Path path = agents.path();
            AgentsOptions.Setup setup = agents.definitions(path);
            add(
                    new Candidate(
                            path.toString(),
                            Optional.of(setup.agents()),
                            setup.providers(),
                            checks(path),
                            Optional.empty()),
                    candidates);
        }
        if (recorded) {
            add(
                    new Candidate("recorded", Optional.empty(), agents.providers(), Map.of(), Optional.empty()),
                    candidates);
        }
        return candidates;
    }

    private static Map<String, List<Check>> checks(Path path) throws IOException, CommandFailure {
        try {
            return Check.in(path);
        } catch (YamlProblem e) {
            throw new CommandFailure(
                    ExitCode.BAD_INPUT, ProblemType.CHECKS_INVALID, "invalid checks: " + e.all(), "Fix the file");
        }
    }

    private void add(Candidate candidate, List<Candidate> candidates) throws CommandFailure {
        if (models.isEmpty()) {
            candidates.add(candidate);
        }
        for (String model : models) {
            checkModel(candidate.providers(), model);
            candidates.add(candidate.withModel(model));
        }
    }

    static void checkModel(ModelProviders providers, String model) throws CommandFailure {
        Optional<String> problem = new ModelChecks(providers).modelProblem(model);
        if (problem.isPresent()) {
            throw CommandFailure.badInput(
                    "the model can't be used: " + problem.get(), "Example: anthropic:claude-haiku-4-5");
        }
    }
}
