package dev.waymark.e2e.product;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A command that prints one JSON object per line while threads run: {@code watch} or {@code save --follow}. */
public final class Watching implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();

    private final Process process;
    private final List<JsonNode> lines = new ArrayList<>();
    private final StringBuilder complaints = new StringBuilder();
    private final List<Thread> readers;

    private Watching(Process process) {
        this.process = process;
        this.readers = List.of(
                inBackground(() -> process.inputReader().lines().forEach(this::add)),
                inBackground(() -> process.errorReader().lines().forEach(this::complain)));
    }

    private static Thread inBackground(Runnable reading) {
        Thread reader = new Thread(
                () -> {
                    try {
                        reading.run();
                    } catch (UncheckedIOException e) {
                        // The process has ended.
                    }
                },
                "watching");
        reader.setDaemon(true);
        reader.start();
        return reader;
    }

    /** {@code waymark watch --json} of one thread. */
    public static Watching start(String address, String thread) {
        return run(address, "watch", thread, "--json");
    }

    public static Watching run(String address, String... arguments) {
        ProcessBuilder builder = new ProcessBuilder(ScriptFile.call(arguments));
        builder.environment().put("TEMPORAL_ADDRESS", address);
        try {
            return new Watching(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized void add(String line) {
        try {
            lines.add(JSON.readTree(line));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private synchronized void complain(String line) {
        complaints.append(line).append('\n');
    }

    /** The output on stderr so far. */
    public synchronized String complaints() {
        return complaints.toString();
    }

    /** The JSON objects printed so far. */
    public synchronized List<JsonNode> lines() {
        return List.copyOf(lines);
    }

    /** The objects printed so far that have this {@code type}. */
    public List<JsonNode> lines(String type) {
        return lines().stream()
                .filter(line -> line.path("type").asText().equals(type))
                .toList();
    }

    /** Sends SIGTERM, waits for the end, and returns the exit code. */
    public int terminate() throws InterruptedException {
        process.destroy();
        return exitCode();
    }

    /** Waits until the process has ended and all of its output is read. Returns its exit code. */
    public int exitCode() throws InterruptedException {
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("it does not end");
        }
        for (Thread reader : readers) {
            reader.join();
        }
        return process.exitValue();
    }

    /** Kills the process like {@code kill -9}. Returns when it is dead. */
    public void kill() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }
}
