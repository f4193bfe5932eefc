package dev.waymark.e2e.product;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A command that prints one JSON object per line while threads run: {@code watch} or {@code save --follow}. */
public final class Watching implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final ChildProcess process;

    private Watching(ChildProcess process) {
        this.process = process;
    }

    /** {@code waymark watch --json} of one thread. */
    public static Watching start(String address, String thread) {
        return run(address, "watch", thread, "--json");
    }

    public static Watching run(String address, String... arguments) {
        try {
            return new Watching(ScriptFile.command(arguments)
                    .environment(Map.of("TEMPORAL_ADDRESS", address))
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The output on stderr so far. */
    public String complaints() {
        return process.err();
    }

    /** The JSON objects printed so far. */
    public List<JsonNode> lines() {
        return process.lines().stream().map(Watching::parse).toList();
    }

    private static JsonNode parse(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The objects printed so far that have this {@code type}. */
    public List<JsonNode> lines(String type) {
        return lines().stream()
                .filter(line -> line.path("type").asText().equals(type))
                .toList();
    }

    /** Sends SIGTERM, waits for the end, and returns the exit code. */
    public int terminate() throws IOException, InterruptedException {
        return process.terminate(PATIENCE);
    }

    /** Waits until the process has ended and all of its output is read. Returns its exit code. */
    public int exitCode() throws IOException, InterruptedException {
        return process.end(PATIENCE).exitCode();
    }

    /** Kills the process like {@code kill -9}. Returns when it is dead. */
    public void kill() {
        process.close();
    }

    @Override
    public void close() {
        kill();
    }
}
