package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.PayloadJson;
import dev.waymark.worker.process.GuardedProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The console of {@code dev}: runs {@code ./waymark serve} as a child process on loopback, without authentication. A
 * separate process, so that the process with the tools serves no HTTP API.
 */
final class DevConsole implements AutoCloseable {
    private static final int DEFAULT_PORT = 8090;
    private static final int START_SECONDS = 30;

    private static final String CODEC_KEYS = "WAYMARK_CODEC_KEYS";
    private static final String FILE_PREFIX = "file:";

    /** Environment variables that the child needs to start Java and to read encrypted histories. */
    private static final List<String> ENVIRONMENT = List.of(
            "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "JAVA_HOME", CODEC_KEYS, ThreadKeys.VARIABLE);

    @Option(
            names = "--console-port",
            paramLabel = "PORT",
            description = "Port of the console. Default: 8090, or a free port if 8090 is in use.")
    private @Nullable Integer port;

    @Option(names = "--no-console", description = "Do not start the console.")
    private boolean isOff;

    private Optional<Process> process = Optional.empty();
    private Optional<CompletableFuture<String>> ready = Optional.empty();

    /**
     * Starts the console for this server. Returns before the console is ready, so that the worker can start meanwhile;
     * see {@link #url}. Does nothing with {@code --no-console}, or if {@code ./waymark} did not start this program.
     *
     * @param webUi the address of the server's Web UI, if it has one
     * @param agents the directory of the agent files, if it is known
     */
    void start(String server, Optional<String> webUi, Optional<Path> agents) throws IOException {
        Optional<Path> launcher = Optional.ofNullable(System.getProperty("waymark.home"))
                .map(home -> Path.of(home, "waymark"))
                .filter(Files::isExecutable);
        if (isOff || launcher.isEmpty()) {
            return;
        }
        List<String> command = new ArrayList<>(List.of(launcher.get().toString(), "serve", "--no-auth", "--json"));
        command.addAll(List.of("--port", Integer.toString(port())));
        webUi.ifPresent(address -> command.addAll(List.of("--web-ui", address)));
        agents.ifPresent(directory -> command.addAll(List.of("--agents", directory.toString())));
        ProcessBuilder builder = GuardedProgram.builder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.putAll(ProcessEnvironment.get());
        environment.keySet().retainAll(ENVIRONMENT);
        environment.put("TEMPORAL_ADDRESS", server);
        environment.put("WAYMARK_TASK_QUEUE", AgentsOptions.taskQueue());
        Optional<Path> keys = hideKeys(environment);
        Process started = builder.start();
        process = Optional.of(started);
        CompletableFuture<String> address = new CompletableFuture<>();
        ready = Optional.of(address);
        address.whenComplete((url, failure) -> keys.ifPresent(DevConsole::delete));
        DaemonThreads.start("waymark-console", () -> read(started, address));
    }

    /**
     * Moves keys to a private file, which is deleted once the child is ready or has ended. Other programs could read
     * the child's initial environment as long as the child runs.
     */
    private static Optional<Path> hideKeys(Map<String, String> environment) throws IOException {
        String keys = environment.get(CODEC_KEYS);
        if (keys == null || keys.isBlank() || keys.startsWith(FILE_PREFIX)) {
            return Optional.empty();
        }
        Path file = Files.createTempFile("waymark-keys-", "");
        file.toFile().deleteOnExit();
        Files.writeString(file, keys);
        environment.put(CODEC_KEYS, FILE_PREFIX + file);
        return Optional.of(file);
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // The file is deleted when this process ends.
        }
    }

    /**
     * Returns the requested port. If none is requested, returns the default port, or 0 for any free port if another
     * program uses the default one.
     */
    private int port() throws IOException {
        if (port != null) {
            return port;
        }
        try (ServerSocket probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), DEFAULT_PORT));
            return DEFAULT_PORT;
        } catch (BindException e) {
            return 0;
        }
    }

    /**
     * Reads the line with the address. Keeps reading after that line, so that the child never blocks when it writes.
     */
    private static void read(Process child, CompletableFuture<String> address) {
        try (BufferedReader lines = child.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                address.complete(
                        PayloadJson.MAPPER.readTree(line).path("address").asText());
            }
        } catch (IOException e) {
            address.completeExceptionally(e);
        }
        address.completeExceptionally(new IOException("it ended"));
    }

    boolean isRunning() {
        return ready.isPresent();
    }

    /** Waits until the console is ready, and returns its address; empty without a console, and after 30 seconds. */
    Optional<String> url() throws CommandFailure, InterruptedException {
        if (ready.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(ready.get().get(START_SECONDS, TimeUnit.SECONDS)).filter(address -> !address.isEmpty());
        } catch (TimeoutException e) {
            return Optional.empty(); // Everything else is ready and does not depend on the console.
        } catch (ExecutionException e) {
            throw CommandFailure.badInput(
                    "the console does not start" + (port == null ? "" : " on port " + port),
                    "See above; choose another port with --console-port, or leave it out with --no-console");
        }
    }

    @Override
    public void close() {
        process.ifPresent(GuardedProgram::end);
    }
}
