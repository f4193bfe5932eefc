package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.ExitCode;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.conversation.value.ProblemType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option that names another build, whose own command runs instead of this one. */
final class BuildOptions {
    private static final String BUILD = "--build";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = BUILD,
            paramLabel = "JAR|DIR",
            description = "The build to try: its waymark.jar, or a directory with its classes and jars. Its own command"
                    + " runs, in a separate process. Default: this build.")
    private @Nullable Path build;

    /** Runs the command of the other build, if one is named. Returns its exit code. */
    OptionalInt runElsewhere() throws Exception {
        if (build == null) {
            return OptionalInt.empty();
        }
        if (!Files.exists(build)) {
            throw new CommandFailure(ExitCode.NOT_FOUND, ProblemType.NOT_FOUND, "no such build: " + build, "");
        }
        BuildProcess process = new BuildProcess(build, ProcessEnvironment.get());
        if (process.isSpringBoot()) {
            throw CommandFailure.badInput(
                    "a Spring Boot application has no " + command.name() + " command: " + build,
                    "Write its agents with java -jar " + build + " --waymark.write-agents=agents.json, and run "
                            + command.name() + " --agents agents.json with the waymark of the version that it uses");
        }
        if (!process.has(command.userObject().getClass())) {
            throw CommandFailure.badInput(
                    "the build has no " + command.name() + " command: " + build,
                    "Name a waymark.jar, or a directory with its classes and jars, of a version that has one");
        }
        List<String> arguments =
                new ArrayList<>(command.commandLine().getParseResult().originalArgs());
        arguments.removeIf(argument -> argument.startsWith(BUILD + "="));
        int at = arguments.indexOf(BUILD);
        if (at >= 0) {
            arguments.subList(at, at + 2).clear();
        }
        return OptionalInt.of(process.run(
                arguments, command.commandLine().getOut(), command.commandLine().getErr()));
    }
}
