package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.limit.ServiceLimits;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.yaml.YamlProblem;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that names the file with the limits of model services. */
final class LimitsOptions {
    private static final String VARIABLE = "WAYMARK_LIMITS";

    @Option(
            names = "--limits",
            paramLabel = "FILE",
            description = "A YAML file with the limits of model services: requests per minute over all workers, and"
                    + " calls at a time for each. Default: WAYMARK_LIMITS, or no limits.")
    private @Nullable String file;

    private Optional<String> names = Optional.empty();

    /** Gives the worker the limits, if there are any. */
    AgentWorker.Builder of(AgentWorker.Builder worker, ModelProviders providers) throws CommandFailure {
        Optional<String> named = Optional.ofNullable(file)
                .or(() -> Optional.ofNullable(ProcessEnvironment.get().get(VARIABLE)))
                .filter(path -> !path.isBlank());
        try {
            if (named.isEmpty()) {
                return worker;
            }
            ServiceLimits limits = ServiceLimits.read(Path.of(named.get()), providers);
            names = Optional.of(String.join(", ", limits.byName().keySet()));
            return worker.limits(limits);
        } catch (YamlProblem e) {
            throw CommandFailure.badInput("invalid limits: " + e.all(), "Correct the file");
        }
    }

    /** The names of the limits, for people; empty without a file. */
    Optional<String> names() {
        return names;
    }
}
