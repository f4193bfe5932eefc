package dev.waymark.e2e.product;

import dev.waymark.e2e.product.Command.Done;
import dev.waymark.testkit.process.ChildProcess;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A process that runs commands one after the other. Idle processes are kept for later commands with the same
 * environment.
 */
final class WarmCommands {
    private static final Map<Map<String, String>, Deque<WarmCommands>> IDLE = new HashMap<>();

    private final Process process;

    private WarmCommands(Map<String, String> environment) throws IOException {
        Path root = Path.of("").toAbsolutePath().getParent();
        Path jar = root.resolve("starter/target/waymark.jar");
        List<String> words = new ArrayList<>(List.of(
                ChildProcess.javaCommand(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                // A warning of the JVM on standard output would break the replies.
                "-Xlog:disable",
                "-Xlog:all=error:stderr"));
        // The archive of classes that ./waymark has written halves the processor time of a start.
        Path archive = jar.resolveSibling("waymark-" + System.getProperty("java.version") + ".jsa");
        if (Files.exists(archive) && Files.size(archive) > 0) {
            words.add("-XX:SharedArchiveFile=" + archive);
        }
        words.addAll(List.of(
                "-Dwaymark.home=" + root,
                "-Dwaymark.command=waymark",
                "-cp",
                jar + ":" + testClasses(),
                CommandHost.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(words);
        builder.environment().putAll(environment);
        process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static Path testClasses() {
        try {
            return Path.of(CommandHost.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    static Done run(Map<String, String> environment, String input, String[] arguments, Duration most)
            throws IOException, InterruptedException {
        WarmCommands host = take(environment);
        try {
            Done done = CompletableFuture.supplyAsync(() -> host.run(input, arguments))
                    .get(most.toMillis(), TimeUnit.MILLISECONDS);
            give(environment, host);
            return done;
        } catch (ExecutionException | TimeoutException e) {
            host.process.destroyForcibly();
            throw new IllegalStateException("did not end: " + String.join(" ", arguments), e);
        }
    }

    private static WarmCommands take(Map<String, String> environment) throws IOException {
        synchronized (IDLE) {
            Deque<WarmCommands> idle = IDLE.get(environment);
            if (idle != null && !idle.isEmpty()) {
                return idle.pop();
            }
        }
        return new WarmCommands(environment);
    }

    private static void give(Map<String, String> environment, WarmCommands host) {
        synchronized (IDLE) {
            IDLE.computeIfAbsent(environment, key -> new ArrayDeque<>()).push(host);
        }
    }

    private Done run(String input, String[] arguments) {
        try {
            DataOutputStream requests = new DataOutputStream(process.getOutputStream());
            requests.writeInt(arguments.length);
            for (String argument : arguments) {
                CommandHost.write(requests, argument.getBytes(StandardCharsets.UTF_8));
            }
            CommandHost.write(requests, input.getBytes(StandardCharsets.UTF_8));
            requests.flush();
            DataInputStream replies = new DataInputStream(process.getInputStream());
            int exitCode = replies.readInt();
            return new Done(
                    exitCode, CommandHost.text(CommandHost.read(replies)), CommandHost.text(CommandHost.read(replies)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
