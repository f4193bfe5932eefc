package dev.waymark.e2e.product;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Runs {@code ./waymark} commands to their end. */
public final class Command {
    /** Ends only commands that hang: the demo, which starts many programs, takes two minutes beside other tests. */
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final Set<String> WORKER_COMMANDS =
            Set.of("worker", "dev", "tools", "agents", "gate", "export", "rehearse");

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
        ChildProcess.Builder command = ScriptFile.command(arguments).environment(environment);
        try {
            if (warm && !WORKER_COMMANDS.contains(arguments[0])) {
                return WarmCommands.run(environment, input, arguments, PATIENCE);
            }
            ChildProcess.Ended ended = command.run(input, PATIENCE);
            return new Done(ended.exitCode(), ScriptFile.named(ended.out()), ScriptFile.named(ended.err()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
