package dev.waymark.starter.cli;

import dev.waymark.conversation.Json;
import dev.waymark.starter.client.AgentClient;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints a checkpoint, from history. */
@Command(name = "checkpoint", description = "Prints a checkpoint, from history.")
final class Checkpoint implements Callable<Integer> {
    private static final String RUNNER = "runner";

    @Mixin
    private Output output;

    @Parameters(index = "0", paramLabel = "THREAD", description = "The thread.")
    private String thread;

    @Option(names = "--format", paramLabel = "F", defaultValue = RUNNER, description = "The format: runner (default).")
    private String format;

    @Option(
            names = "--at",
            paramLabel = "V",
            description = "Which: a version, eN (event N of the newest run) or RUNID/eN. Default: the present.")
    private String at;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        if (!format.equals(RUNNER)) {
            throw new ParameterException(spec.commandLine(), "no such format: " + format + ". Supported: " + RUNNER);
        }
        try (AgentClient client = Connect.toServer()) {
            Json checkpoint = Optional.ofNullable(at)
                    .map(place -> client.checkpoint(thread, place))
                    .orElseGet(() -> client.checkpoint(thread));
            output.pretty(Documents.tree(checkpoint));
            return ExitCode.DONE;
        }
    }
}
