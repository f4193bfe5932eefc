package dev.waymark.e2e.product;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** {@code waymark watch --json} of one thread, while it goes on. */
public final class Watching implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();

    private final Process process;
    private final List<JsonNode> lines = new ArrayList<>();

    private Watching(Process process) {
        this.process = process;
        Thread reader = new Thread(this::read, "watching");
        reader.setDaemon(true);
        reader.start();
    }

    public static Watching start(String address, String thread) {
        ProcessBuilder builder = new ProcessBuilder(Script.call("watch", thread, "--json"))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("TEMPORAL_ADDRESS", address);
        try {
            return new Watching(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read() {
        BufferedReader stdout = process.inputReader();
        try {
            for (String line = stdout.readLine(); line != null; line = stdout.readLine()) {
                add(JSON.readTree(line));
            }
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            // It was ended.
        }
    }

    private synchronized void add(JsonNode line) {
        lines.add(line);
    }

    /** What it has told so far. */
    public synchronized List<JsonNode> lines() {
        return List.copyOf(lines);
    }

    /** Those of a type. */
    public List<JsonNode> lines(String type) {
        return lines().stream()
                .filter(line -> line.path("type").asText().equals(type))
                .toList();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
