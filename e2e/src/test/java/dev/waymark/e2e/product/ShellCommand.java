package dev.waymark.e2e.product;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs whole command lines in a directory, as a person would type them. */
public final class ShellCommand {
    private static final long MOST_SECONDS = 180;

    private final Path directory;
    private final Map<String, String> environment;

    public ShellCommand(Path directory, Map<String, String> environment) {
        this.directory = directory;
        this.environment = environment;
    }

    public record Done(int exitCode, String out, String err) {}

    /** The words into which a shell splits the arguments of a command. */
    public static List<String> words(String arguments) {
        Done done = new ShellCommand(Path.of("."), Map.of()).run("set -- " + arguments + "\nprintf '%s\\n' \"$@\"");
        return done.out().lines().toList();
    }

    /** Runs a command line to its end, with nothing on its standard input. */
    public Done run(String line) {
        try {
            Path err = Files.createTempFile("shell", ".err");
            Process process = start(line, err);
            process.getOutputStream().close();
            CompletableFuture<String> out = CompletableFuture.supplyAsync(() -> rest(process.inputReader()));
            if (!process.waitFor(MOST_SECONDS, TimeUnit.SECONDS)) {
                end(process);
                throw new IllegalStateException("still runs: " + line);
            }
            return new Done(process.exitValue(), out.join(), read(err));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private Process start(String line, Path err) throws IOException {
        List<String> command = new ArrayList<>(List.of("bash", "-c", line));
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(directory.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("WAYMARK_") || name.endsWith("_API_KEY"));
        builder.environment().putAll(environment);
        return builder.start();
    }

    private static void end(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private static String rest(BufferedReader reader) {
        StringBuilder text = new StringBuilder();
        reader.lines().forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }

    private static String read(Path file) throws IOException {
        String text = Files.readString(file);
        Files.delete(file);
        return text;
    }
}
