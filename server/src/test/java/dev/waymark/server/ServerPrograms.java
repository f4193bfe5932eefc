package dev.waymark.server;

import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Server programs that run in one directory and write their logs there. */
final class ServerPrograms {
    static final int PATIENCE_SECONDS = 120;
    private static final int LOWEST_PORT = 10_000;
    private static final int LOG_CHARACTERS = 2_000;
    private static final String COMMANDS_LOG = "commands.log";

    private final Path directory;

    ServerPrograms(Path directory) {
        this.directory = directory;
    }

    Path directory() {
        return directory;
    }

    /** Starts a program whose output is added to {@code NAME.log}. */
    Process start(String name, Map<String, String> environment, List<String> words) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve(name + ".log").toFile()));
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** Runs a program to its end. Fails if its exit code is not 0. */
    void run(Map<String, String> environment, List<String> words) throws IOException, InterruptedException {
        ProcessBuilder builder = command(words);
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException(words.get(0) + " failed: " + Files.readString(directory.resolve(COMMANDS_LOG)));
        }
    }

    private ProcessBuilder command(List<String> words) {
        return new ProcessBuilder(words)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(COMMANDS_LOG).toFile());
    }

    /** Repeats a check until it succeeds. Fails if the checked program ends first, or after two minutes. */
    void until(String what, Process program, List<String> check) throws IOException, InterruptedException {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (command(check).start().waitFor() != 0) {
            if (System.nanoTime() > until || !program.isAlive()) {
                throw new IOException(what + " did not start: " + logs(LOG_CHARACTERS));
            }
        }
    }

    /** The logs of all programs. */
    String logs() throws IOException {
        return logs(Integer.MAX_VALUE);
    }

    private String logs(int mostOfEach) throws IOException {
        StringBuilder logs = new StringBuilder();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path log : files.filter(file -> file.toString().endsWith(".log"))
                    .sorted()
                    .toList()) {
                String text = Files.readString(log);
                logs.append(text.substring(Math.max(0, text.length() - mostOfEach)));
            }
        }
        return logs.toString();
    }

    /**
     * A free port that fits into Temporal's PostgreSQL column for ports. The operating system rarely assigns such a
     * port.
     */
    static int freePort() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST_PORT, Short.MAX_VALUE);
            try (ServerSocket socket = new ServerSocket(port)) {
                return socket.getLocalPort();
            } catch (BindException e) {
                // The port is taken. Tries another one.
            }
        }
    }

    /** Ends a program and waits until it has ended. */
    static void end(Process program) {
        program.destroy();
        program.onExit().orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    }
}
