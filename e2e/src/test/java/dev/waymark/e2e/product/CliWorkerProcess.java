package dev.waymark.e2e.product;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** A {@code waymark worker} process that tests kill. */
public final class CliWorkerProcess implements AutoCloseable {
    private static final long READY_SECONDS = 180;

    private final Process process;
    private final BufferedReader stdout;
    private final Path log;

    private CliWorkerProcess(Process process, BufferedReader stdout, Path log) {
        this.process = process;
        this.stdout = stdout;
        this.log = log;
    }

    /** Starts a worker, and returns once it is ready. Its stderr goes into the log. */
    public static CliWorkerProcess start(String address, Path agents, Map<String, String> environment, Path log) {
        ProcessBuilder builder = new ProcessBuilder(ScriptFile.call("worker", "--json", "--agents", agents.toString()))
                .redirectError(log.toFile());
        // Full compilation pays off only for long-lived workers. These workers end earlier.
        builder.environment().put("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
        builder.environment().putAll(environment);
        builder.environment().put("TEMPORAL_ADDRESS", address);
        try {
            Process process = builder.start();
            BufferedReader stdout = process.inputReader();
            try {
                CompletableFuture.supplyAsync(() -> readLine(stdout)).get(READY_SECONDS, TimeUnit.SECONDS);
                return new CliWorkerProcess(process, stdout, log);
            } catch (InterruptedException | ExecutionException | TimeoutException e) {
                process.destroyForcibly();
                throw new IllegalStateException("waymark worker does not become ready", e);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String readLine(BufferedReader reader) {
        try {
            String line = reader.readLine();
            if (line == null) {
                throw new IllegalStateException("it ended");
            }
            return line;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path log() {
        return log;
    }

    /** Waits for the end of the process, and returns its exit code; empty if it has not ended in time. */
    public OptionalInt exitCodeWithin(Duration time) throws InterruptedException {
        boolean hasEnded = process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS);
        return hasEnded ? OptionalInt.of(process.exitValue()) : OptionalInt.empty();
    }

    /** The output after the ready line. Returns when the process has ended. */
    public String lastOutput() {
        return stdout.lines().collect(Collectors.joining("\n"));
    }

    /** Kills the process and its descendants with SIGKILL, and waits until the process has ended. */
    public void kill() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
