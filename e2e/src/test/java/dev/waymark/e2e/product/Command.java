package dev.waymark.e2e.product;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs {@code ./waymark} commands to their end, each for at most 120 seconds. */
public final class Command {
    private static final long MOST_SECONDS = 120;
    private static final Set<String> WORKER_COMMANDS = Set.of("worker", "dev", "tools", "agents", "gate", "export");

    private final Map<String, String> environment;
    private final boolean warm;

    private Command(Map<String, String> environment, boolean warm) {
        this.environment = environment;
        this.warm = warm;
    }

    /** A separate state directory, so that tests do not change the state of the user who runs them. */
    private static final Path STATE = Path.of("target", "state").toAbsolutePath();

    /** Runs each command in a separate process, started by {@code ./waymark}. */
    public static Command at(String address) {
        return new Command(Map.of("TEMPORAL_ADDRESS", address, "XDG_STATE_HOME", STATE.toString()), false);
    }

    /**
     * Runs commands of the starter in reused processes, for tests with many commands: starting a process takes longer
     * than running most commands.
     */
    public static Command warmAt(String address) {
        return new Command(at(address).environment, true);
    }

    /** Sets neither the address of the server nor the state directory. */
    public static Command withoutAddress() {
        return new Command(Map.of(), false);
    }

    public Command with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(environment);
        more.put(name, value);
        return new Command(more, warm);
    }

    /** The exit code and the whole output of a command that has ended. */
    public record Done(int exitCode, String out, String err) {
        /** The JSON document that the command printed. Fails if there is anything else on stdout. */
        public JsonNode json() {
            try {
                return JsonMapper.builder()
                        .enable(com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                        .build()
                        .readTree(out);
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("no JSON: " + out + err, e);
            }
        }
    }

    public Done run(String... arguments) {
        return runTyping("", arguments);
    }

    /** Runs the command with this text on its standard input. */
    public Done runTyping(String input, String... arguments) {
        ProcessBuilder builder = new ProcessBuilder(ScriptFile.call(arguments));
        builder.environment().putAll(environment);
        try {
            if (warm && !WORKER_COMMANDS.contains(arguments[0])) {
                return WarmCommands.run(environment, input, arguments, MOST_SECONDS);
            }
            Process process = builder.start();
            try (OutputStream in = process.getOutputStream()) {
                in.write(input.getBytes(StandardCharsets.UTF_8));
            }
            CompletableFuture<String> out = CompletableFuture.supplyAsync(() -> readAll(process.getInputStream()));
            CompletableFuture<String> err = CompletableFuture.supplyAsync(() -> readAll(process.getErrorStream()));
            if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("still runs: " + String.join(" ", arguments));
            }
            return new Done(process.exitValue(), ScriptFile.named(out.join()), ScriptFile.named(err.join()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String readAll(InputStream stream) {
        try {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
