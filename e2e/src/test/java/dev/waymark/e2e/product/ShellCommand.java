package dev.waymark.e2e.product;

import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Runs whole command lines in a directory, as a person would type them. */
public final class ShellCommand {
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Path directory;
    private final Map<String, String> environment;

    public ShellCommand(Path directory, Map<String, String> environment) {
        this.directory = directory;
        this.environment = environment;
    }

    /** The words into which a shell splits the arguments of a command. */
    public static List<String> words(String arguments) {
        return new ShellCommand(Path.of("."), Map.of())
                .run("set -- " + arguments + "\nprintf '%s\\n' \"$@\"")
                .out()
                .lines()
                .toList();
    }

    /** Runs a command line to its end, with nothing on its standard input. */
    public ChildProcess.Ended run(String line) {
        try {
            return ChildProcess.of("bash", "-c", line)
                    .in(directory)
                    .withoutEnvironment("WAYMARK_.*|.*_API_KEY")
                    .environment(environment)
                    .run(PATIENCE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
