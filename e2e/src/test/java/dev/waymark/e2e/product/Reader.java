package dev.waymark.e2e.product;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs the commands of a document one after the other, in a directory with {@code ./waymark} and the project's agents.
 */
public final class Reader implements AutoCloseable {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final long MOST_SECONDS = 240;
    private static final int READY_SECONDS = 180;
    private static final int SOME_SECONDS = 4;

    /** Commands that run until they are stopped. */
    private static final Pattern ENDLESS =
            Pattern.compile("\\./waymark (dev|worker|serve|codec|watch)\\b|--follow\\b|curl -N ");

    private static final Pattern SERVER = Pattern.compile("\\./waymark (dev|serve)\\b");
    private static final Pattern READY = Pattern.compile("Ctrl-C|API: http");
    private static final Pattern ASSIGNMENT = Pattern.compile("(?:export )?([A-Z_]+)=(.*)");

    private final Path directory;
    private final Map<String, String> environment = new LinkedHashMap<>();
    private final List<Process> running = new ArrayList<>();

    public Reader(Path directory) throws IOException {
        this.directory = directory;
        Files.createSymbolicLink(directory.resolve("waymark"), ROOT.resolve("waymark"));
        copy(ROOT.resolve("agents"), directory.resolve("agents"));
        environment.put("HOME", Files.createDirectory(directory.resolve("home")).toString());
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    /**
     * Runs a command, and returns what went wrong, if anything. Does not wait for the end of a command that runs until
     * it is stopped.
     */
    public Optional<String> type(String command) throws IOException, InterruptedException {
        String typed = command.replaceFirst(" +# .*", "");
        Matcher assignment = ASSIGNMENT.matcher(typed);
        if (assignment.matches() && !typed.matches("[^$(]* \\./waymark .*")) {
            Path value = directory.resolve("value");
            Optional<String> problem = ended(
                    start(typed + "\nprintf %s \"$" + assignment.group(1) + "\" > " + value, directory.resolve("log")));
            environment.put(assignment.group(1), Files.readString(value));
            return problem;
        }
        Path log = directory.resolve("log-" + running.size());
        Files.deleteIfExists(log);
        Process process = start(typed, log);
        return ENDLESS.matcher(typed).find()
                ? begun(process, log, SERVER.matcher(typed).find())
                : ended(process).map(why -> why + read(log));
    }

    private Process start(String typed, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", typed)
                .directory(directory.toFile())
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().keySet().removeIf(name -> name.matches("(WAYMARK|TEMPORAL|XDG)_.*|.*_API_KEY"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        running.add(process);
        return process;
    }

    private static Optional<String> ended(Process process) throws InterruptedException {
        if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS)) {
            return Optional.of("does not end\n");
        }
        return process.exitValue() == 0 ? Optional.empty() : Optional.of("exit code " + process.exitValue() + "\n");
    }

    /**
     * Waits until a server prints that it is ready, and a few seconds for any other command. Returns what went wrong,
     * if anything.
     */
    private static Optional<String> begun(Process process, Path log, boolean isServer)
            throws IOException, InterruptedException {
        for (int i = 0; i < (isServer ? READY_SECONDS : SOME_SECONDS); i++) {
            if (process.waitFor(1, TimeUnit.SECONDS)) {
                return process.exitValue() == 0
                        ? Optional.empty()
                        : Optional.of("exit code " + process.exitValue() + "\n" + read(log));
            }
            if (isServer && READY.matcher(read(log)).find()) {
                return Optional.empty();
            }
        }
        return isServer ? Optional.of("is not ready\n" + read(log)) : Optional.empty();
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws InterruptedException {
        List<ProcessHandle> all = running.stream()
                .flatMap(process -> Stream.concat(process.descendants(), Stream.of(process.toHandle())))
                .toList();
        all.forEach(ProcessHandle::destroy);
        for (Process process : running) {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        }
        all.forEach(ProcessHandle::destroyForcibly);
    }
}
