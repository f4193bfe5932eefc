package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.cli.CommandGroup;
import dev.waymark.cli.HelpEntry;
import dev.waymark.rehearsal.RolloutReport;
import dev.waymark.rehearsal.gate.AcceptedFindings;
import dev.waymark.rehearsal.gate.AgentFiles;
import dev.waymark.rehearsal.gate.Gate;
import dev.waymark.rehearsal.gate.ThreadSource;
import dev.waymark.starter.render.Output;
import dev.waymark.worker.agents.AgentInvalid;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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
    @Mixin
    private Output output;

    @Mixin
    private AgentsOptions agents;

    @Mixin
    private BuildOptions build;

    @Mixin
    private ReportOptions reports;

    @Mixin
    private AcceptOptions accept;

    @Mixin
    private ThreadsOptions threads;

    @Override
    public Integer call() throws Exception {
        threads.check();
        OptionalInt elsewhere = build.runElsewhere();
        return elsewhere.isPresent() ? elsewhere.getAsInt() : here();
    }

    private int here() throws Exception {
        log(output);
        Optional<AgentFiles> files = files(agents, output);
        AcceptedFindings accepted = accept.read();
        return threads.read(Optional.empty(), source -> report(source, files, accepted));
    }

    /** The SDK logs failed replays with their stack traces. They are reported as findings instead. */
    static void log(Output output) {
        if (output.isVerbose()) {
            WorkerLog.toStderr(output.isVerbose());
        } else {
            WorkerLog.off();
        }
    }

    /** Returns empty if no directory is set and the default one does not exist; then only the build is checked. */
    static Optional<AgentFiles> files(AgentsOptions agents, Output output) throws IOException, CommandFailure {
        if (!agents.isNamed() && !agents.exists()) {
            output.note("waymark: no agents directory, so only the build is checked");
            return Optional.empty();
        }
        try {
            return Optional.of(AgentFiles.of(agents.definitions(agents.path()).agents()));
        } catch (AgentInvalid e) {
            return Optional.of(AgentFiles.invalid(e));
        }
    }

    private int report(ThreadSource source, Optional<AgentFiles> files, AcceptedFindings accepted)
            throws CommandFailure, IOException {
        try (Gate gate = new Gate(source, files, accepted, new GateProgress(output))) {
            return reports.report(output, RolloutReport.of(gate.check(threads.most())), List.of());
        } catch (IllegalArgumentException e) {
            throw CommandFailure.badInput("not an exported thread: " + e.getMessage(), "Write it again with export");
        }
    }
}
