package dev.waymark.starter.worker;

import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.worker.AgentWorker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that names the directory in which a worker notes the calls that it executes. */
final class JournalOptions {
    private static final String VARIABLE = "WAYMARK_JOURNAL";
    private static final String OFF = "off";
    private static final Path DIRECTORY = Path.of(".waymark", "journal");

    @Option(
            names = "--journal",
            paramLabel = "DIR",
            description = "Directory in which the workers of this host note their running calls with side effects. If a"
                    + " worker is killed, the next one reports its calls at once. Needs Linux and a local file system;"
                    + " \"off\" disables it. Default: WAYMARK_JOURNAL, or .waymark/journal.")
    private @Nullable String directory;

    /** Gives the worker its journal, if there is one. */
    AgentWorker.Builder of(AgentWorker.Builder worker) {
        return named().or(JournalOptions::fallback)
                .filter(name -> !name.equals(OFF))
                .map(name -> worker.journal(Path.of(name)))
                .orElse(worker);
    }

    private Optional<String> named() {
        return Optional.ofNullable(directory)
                .or(() -> Optional.ofNullable(ProcessEnvironment.get().get(VARIABLE)))
                .filter(name -> !name.isBlank());
    }

    /** A default that the user did not choose: a worker that cannot write to it has no journal, and does not warn. */
    private static Optional<String> fallback() {
        Path nearest = Files.isDirectory(DIRECTORY) ? DIRECTORY : Path.of("").toAbsolutePath();
        return Files.isWritable(nearest) ? Optional.of(DIRECTORY.toString()) : Optional.empty();
    }
}
