package dev.waymark.starter.worker;

import dev.waymark.cli.CommandError;
import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.ExitCode;
import dev.waymark.cli.HelpEntry;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.agents.AgentInvalid;
import dev.waymark.worker.gate.AgentFiles;
import dev.waymark.worker.gate.Gate;
import dev.waymark.worker.gate.GateReport;
import dev.waymark.worker.gate.ThreadSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@HelpEntry(
        group = CommandGroup.ROLL_OUT,
        examples = {"gate", "gate --build waymark.jar --agents new-agents --sample 500"})
@Command(
        name = "gate",
        description = {
            "Checks before a rollout that a new build and its agents can continue the open threads.",
            "It replays their histories and computes their states, and changes nothing. If a thread would break, it"
                    + " names the thread and the event, and exits with 1."
        })
public final class GateCommand implements Callable<Integer> {
    private static final String BUILD = "--build";
    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(2);

    @Mixin
    private Output output;

    @Mixin
    private AgentsOptions agents;

    @Spec
    private CommandSpec command;

    @Option(
            names = BUILD,
            paramLabel = "JAR|DIR",
            description = "The build to try: its waymark.jar, or a directory with its classes and jars. Its own gate"
                    + " command runs, in a separate process. Default: this build.")
    private @Nullable Path build;

    @Mixin
    private ThreadsOptions threads;

    @Override
    public Integer call() throws Exception {
        threads.check();
        return build == null ? here() : elsewhere(build);
    }

    private int elsewhere(Path other) throws Exception {
        if (!Files.exists(other)) {
            throw new CommandFailure(ExitCode.NOT_FOUND, CommandError.NOT_FOUND, "no such build: " + other, "");
        }
        BuildProcess process = new BuildProcess(other, ProcessEnvironment.get());
        if (!process.hasGate()) {
            throw ThreadsOptions.badInput(
                    "the build has no gate command: " + other,
                    "Name a waymark.jar, or a directory with its classes and jars, of a version that has one");
        }
        List<String> arguments =
                new ArrayList<>(command.commandLine().getParseResult().originalArgs());
        arguments.removeIf(argument -> argument.startsWith(BUILD + "="));
        int at = arguments.indexOf(BUILD);
        if (at >= 0) {
            arguments.subList(at, at + 2).clear();
        }
        return process.run(
                arguments, command.commandLine().getOut(), command.commandLine().getErr());
    }

    private int here() throws Exception {
        if (output.isVerbose()) {
            WorkerLog.toStderr(output.isVerbose());
        } else {
            // The SDK logs failed replays with their stack traces. This command reports them as findings instead.
            WorkerLog.off();
        }
        Optional<AgentFiles> files = files();
        return threads.read(Optional.empty(), source -> report(source, files));
    }

    /** Returns empty if no directory is set and the default one does not exist. Then only the build is checked. */
    private Optional<AgentFiles> files() throws IOException, CommandFailure {
        if (!agents.isNamed() && !agents.exists()) {
            output.note("waymark: no agents directory, so only the build is checked");
            return Optional.empty();
        }
        try {
            return Optional.of(AgentFiles.of(agents.load().agents()));
        } catch (AgentInvalid e) {
            return Optional.of(AgentFiles.invalid(e));
        }
    }

    private int report(ThreadSource source, Optional<AgentFiles> files) throws CommandFailure {
        GateReport report;
        try {
            report = new Gate(source, files, new Progress()).check(version(), threads.most());
        } catch (IllegalArgumentException e) {
            throw ThreadsOptions.badInput("not an exported thread: " + e.getMessage(), "Write it again with export");
        }
        if (output.isJson()) {
            output.document(report);
        } else {
            report.agentProblems().forEach(problem -> output.line("agents: a worker would not start: " + problem));
            output.line((report.passed() ? "passed: " : "failed: ") + words(report));
        }
        return report.passed() ? ExitCode.DONE : ExitCode.FAILED;
    }

    private static String words(GateReport report) {
        long bad = report.findings().stream()
                .map(GateReport.Finding::thread)
                .distinct()
                .count();
        return report.checked() + " of " + report.threads() + " threads checked, " + report.events() + " events, "
                + (report.live() ? "running workflows queried, " : "")
                + (bad == 0 ? "no problem in a thread" : "problems in " + bad);
    }

    private String version() {
        return Optional.ofNullable(GateCommand.class.getPackage().getImplementationVersion())
                .orElse("unpackaged");
    }

    /** Prints findings immediately, because the remaining threads may take hours, and progress from time to time. */
    private final class Progress implements Gate.Listener {
        private long last = System.nanoTime();

        @Override
        public void checked(int threads, int of) {
            if (System.nanoTime() - last > PROGRESS_NANOS) {
                last = System.nanoTime();
                output.note("waymark: " + threads + " of " + of + " threads checked");
            }
        }

        @Override
        public void found(GateReport.Finding finding) {
            if (!output.isJson()) {
                output.line(finding.line());
            }
        }
    }
}
