package dev.waymark.e2e.product;

import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/**
 * A {@code ./waymark} command in a pseudoterminal with 24 lines and 80 columns, which Python provides. Skips the test
 * if there is no Python.
 */
public final class Terminal implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** Handles Ctrl-C as a terminal does, even if the tests were started in the background, where it is ignored. */
    private static final String PTY = "import pty, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL);"
            + " sys.exit(pty.spawn(sys.argv[1:]) >> 8)";

    private static final String SIZE = "stty rows 24 cols 80; exec \"$@\"";

    private final ChildProcess process;

    private Terminal(ChildProcess process) {
        this.process = process;
    }

    public static Terminal start(String address, String... arguments) {
        List<String> command = new ArrayList<>(List.of("python3", "-c", PTY, "sh", "-c", SIZE, "sh"));
        command.addAll(ScriptFile.call(arguments));
        try {
            return new Terminal(ChildProcess.of(command)
                    .environment(Map.of("TEMPORAL_ADDRESS", address, "TERM", "xterm"))
                    .mergingErrors()
                    .start());
        } catch (IOException e) {
            Assumptions.abort("no python3 for a terminal");
            throw new UncheckedIOException(e);
        }
    }

    /** Everything that was sent to the screen so far, including control sequences. */
    public String screen() {
        return process.out();
    }

    public void type(String keys) {
        try {
            process.type(keys);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int exitCode() throws IOException, InterruptedException {
        return process.end(PATIENCE).exitCode();
    }

    @Override
    public void close() {
        process.close();
    }
}
