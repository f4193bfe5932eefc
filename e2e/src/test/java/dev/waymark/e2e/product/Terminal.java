package dev.waymark.e2e.product;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * A {@code ./waymark} command in a pseudoterminal with 24 lines and 80 columns, which Python provides. Skips the test
 * if there is no Python.
 */
public final class Terminal implements AutoCloseable {
    private static final long MOST_SECONDS = 60;
    private static final String PTY = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    private static final String SIZE = "stty rows 24 cols 80; exec \"$@\"";

    private final Process process;
    private final StringBuilder screen = new StringBuilder();

    private Terminal(Process process) {
        this.process = process;
        Thread reader = new Thread(this::read, "terminal");
        reader.setDaemon(true);
        reader.start();
    }

    public static Terminal start(String address, String... arguments) {
        List<String> command = new ArrayList<>(List.of("python3", "-c", PTY, "sh", "-c", SIZE, "sh"));
        command.addAll(ScriptFile.call(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("TEMPORAL_ADDRESS", address);
        builder.environment().put("TERM", "xterm");
        try {
            return new Terminal(builder.start());
        } catch (IOException e) {
            Assumptions.abort("no python3 for a terminal");
            throw new UncheckedIOException(e);
        }
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (int c = output.read(); c >= 0; c = output.read()) {
                add((char) c);
            }
        } catch (IOException e) {
            // The process has ended.
        }
    }

    private synchronized void add(char c) {
        screen.append(c);
    }

    /** Everything that was sent to the screen so far, including control sequences. */
    public synchronized String screen() {
        return screen.toString();
    }

    public void type(String keys) {
        try {
            process.getOutputStream().write(keys.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int exitCode() throws InterruptedException {
        if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("still runs: " + screen());
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
