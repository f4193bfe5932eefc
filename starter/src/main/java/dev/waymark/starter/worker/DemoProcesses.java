package dev.waymark.starter.worker;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.PayloadJson;
import dev.waymark.starter.render.Output;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * The child processes of a demo, each a {@code ./waymark} command. They use the demo's own server, even if the
 * environment names another one. All of them end with the demo, also after Ctrl-C.
 */
public final class DemoProcesses implements AutoCloseable {
    private static final int READY_SECONDS = 60;

    /** Each stream has its own thread: every reader blocks, and the common pool may have only one thread. */
    private static final Executor READERS = task -> {
        DaemonThreads.start("demo-output", task);
    };

    private final Path agents;
    private final List<Process> processes = new ArrayList<>();
    private final Thread atExit = new Thread(this::endAll);
    private String address = "";

    DemoProcesses(Path agents) {
        this.agents = agents;
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** The exit code and the output of a command that has ended. */
    record Done(int exitCode, String out, String err) {}

    /** A process that runs until it is killed. */
    record Child(Process process) {
        long pid() {
            return process.pid();
        }

        void kill() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }
    }

    void startServer() throws IOException, InterruptedException {
        address = start("dev", "--in-memory", "--volatile", "--no-worker", "--no-console", "--port", "0", "--json")
                .path("address")
                .asText();
    }

    Child startWorker() throws IOException, InterruptedException {
        String journal = agents.resolve("journal").toString();
        start("worker", "--agents", agents.toString(), "--journal", journal, "--json");
        return new Child(processes.get(processes.size() - 1));
    }

    /** Starts a command that ends by itself. */
    CompletableFuture<Done> run(boolean json, String... arguments) throws IOException {
        ProcessBuilder builder = command(arguments);
        if (json) {
            builder.command().add(Output.JSON);
        }
        Process process = begin(builder);
        CompletableFuture<String> out = CompletableFuture.supplyAsync(() -> read(process.getInputStream()), READERS);
        CompletableFuture<String> err = CompletableFuture.supplyAsync(() -> read(process.getErrorStream()), READERS);
        return process.onExit().thenApply(ended -> new Done(ended.exitValue(), out.join(), err.join()));
    }

    /** Starts a process that keeps running, and waits for its ready line. */
    private JsonNode start(String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = command(arguments).redirectError(ProcessBuilder.Redirect.DISCARD);
        BufferedReader lines = begin(builder).inputReader(StandardCharsets.UTF_8);
        try {
            String line = CompletableFuture.supplyAsync(() -> readLine(lines), READERS)
                    .get(READY_SECONDS, TimeUnit.SECONDS);
            return PayloadJson.MAPPER.readTree(line);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("./waymark " + arguments[0] + " does not become ready", e);
        }
    }

    private ProcessBuilder command(String... arguments) {
        Path script = Path.of(Optional.ofNullable(System.getProperty("waymark.home"))
                        .orElseThrow(() -> new WaymarkException.NotFound(
                                "the demo can't find ./waymark", "Start it with: ./waymark demo")))
                .resolve("waymark");
        List<String> command = new ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(ProcessEnvironment.get());
        builder.environment().keySet().removeIf(name -> name.startsWith("TEMPORAL_") || name.startsWith("WAYMARK_"));
        builder.environment().put("TEMPORAL_ADDRESS", address);
        return builder;
    }

    private synchronized Process begin(ProcessBuilder builder) throws IOException {
        Process process = builder.start();
        process.getOutputStream().close();
        processes.add(process);
        return process;
    }

    private static String read(InputStream stream) {
        try {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }

    private static String readLine(BufferedReader lines) {
        try {
            return Optional.ofNullable(lines.readLine()).orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    /** Ends all processes and deletes the demo's files if the JVM exits during the demo, for example after Ctrl-C. */
    private void endAll() {
        killAll();
        try (Stream<Path> files = Files.walk(agents)) {
            files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        } catch (IOException | UncheckedIOException e) {
            // The demo is deleting its files itself.
        }
    }

    private synchronized void killAll() {
        processes.forEach(Process::destroyForcibly);
    }

    @Override
    public void close() {
        killAll();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }
}
