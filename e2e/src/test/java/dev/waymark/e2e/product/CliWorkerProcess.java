package dev.waymark.e2e.product;

import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** A {@code waymark worker} process that tests kill. */
public final class CliWorkerProcess implements AutoCloseable {
    private final ChildProcess process;
    private final Path log;

    private CliWorkerProcess(ChildProcess process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts a worker with these further options, and returns once it is ready. Its stderr is appended to the log. */
    public static CliWorkerProcess start(
            String address, Path agents, Map<String, String> environment, Path log, String... options) {
        List<String> arguments = new ArrayList<>(List.of("worker", "--json", "--agents", agents.toString()));
        arguments.addAll(List.of(options));
        ReadyProcess worker = ReadyProcess.start(ScriptFile.command(arguments.toArray(String[]::new))
                .environment(environment)
                .environment(Map.of("TEMPORAL_ADDRESS", address))
                .errorsTo(log));
        return new CliWorkerProcess(worker.process(), log);
    }

    public Path log() {
        return log;
    }

    /** Waits for the end of the process, and returns its exit code; empty if it has not ended in time. */
    public OptionalInt exitCodeWithin(Duration time) throws InterruptedException {
        return process.exitCodeWithin(time);
    }

    /** The output of a process that has ended. */
    public String output() throws IOException, InterruptedException {
        return process.end(Duration.ZERO).out();
    }

    /** Kills the process and its descendants with SIGKILL, and waits until the process has ended. */
    public void kill() {
        process.close();
    }

    @Override
    public void close() {
        kill();
    }
}
