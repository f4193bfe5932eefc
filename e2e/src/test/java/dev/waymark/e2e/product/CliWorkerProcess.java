package dev.waymark.e2e.product;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** {@code waymark worker}, to be killed. */
public final class CliWorkerProcess implements AutoCloseable {
    private static final long READY_SECONDS = 180;

    private final Process process;
    private final Path log;

    private CliWorkerProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Returns once it takes work. What it says on stderr goes into the log. */
    public static CliWorkerProcess start(String address, Path agents, Map<String, String> environment, Path log) {
        ProcessBuilder builder = new ProcessBuilder(ScriptFile.call("worker", "--json", "--agents", agents.toString()))
                .redirectError(log.toFile());
        builder.environment().putAll(environment);
        builder.environment().put("TEMPORAL_ADDRESS", address);
        try {
            Process process = builder.start();
            BufferedReader stdout = process.inputReader();
            try {
                CompletableFuture.supplyAsync(() -> readLine(stdout)).get(READY_SECONDS, TimeUnit.SECONDS);
                return new CliWorkerProcess(process, log);
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

    /** As {@code kill -9} does. Returns when it is dead. */
    public void kill() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
