package dev.waymark.e2e.product;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A {@code ./waymark} command that prints a line of JSON when it is ready, and then runs until it is stopped.
 *
 * @param line the line
 */
public record ReadyProcess(ChildProcess process, JsonNode line) implements AutoCloseable {
    private static final Duration READY = Duration.ofMinutes(3);

    /** Starts a command, with flags for processes that do not live long, and returns once it is ready. */
    public static ReadyProcess start(ChildProcess.Builder command) {
        try {
            ChildProcess process = command.environment(
                            Map.of("JDK_JAVA_OPTIONS", String.join(" ", ChildProcess.SHORT_LIVED)))
                    .start();
            try {
                return new ReadyProcess(process, new JsonMapper().readTree(process.firstLine(READY)));
            } catch (IOException e) {
                process.close();
                throw new IllegalStateException("does not become ready", e);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Starts {@code ./waymark serve} without authentication and with these options, for a Temporal server. */
    public static ReadyProcess serve(String temporal, String... options) {
        List<String> arguments = new ArrayList<>(List.of("serve", "--no-auth", "--port", "0", "--json"));
        arguments.addAll(List.of(options));
        return start(
                ScriptFile.command(arguments.toArray(String[]::new)).environment(Map.of("TEMPORAL_ADDRESS", temporal)));
    }

    /** The address in the line. */
    public String address() {
        return line.path("address").asText();
    }

    /** Kills the process and its descendants with SIGKILL, and waits until the process has ended. */
    @Override
    public void close() {
        process.close();
    }
}
