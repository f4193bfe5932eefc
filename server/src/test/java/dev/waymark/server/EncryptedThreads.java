package dev.waymark.server;

import dev.waymark.client.AgentClient;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.connect.Connection;
import dev.waymark.worker.cli.WorkerMain;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;

/** Threads whose own keys are in PostgreSQL, and {@code waymark worker} processes that run them. */
final class EncryptedThreads implements AutoCloseable {
    static final String DATABASE = "thread_keys";
    static final String PASSWORD = "hunter2-of-the-keys";
    static final String MASTER_KEY = masterKey();

    private final ServerPrograms programs;
    private final Map<String, String> environment;
    private final Path agents;
    private final List<Runnable> endings = new ArrayList<>();

    /** @param keys the cluster in which the database of the keys is created */
    EncryptedThreads(ServerPrograms programs, String temporal, PostgresCluster keys)
            throws IOException, InterruptedException {
        keys.createDatabase(DATABASE);
        this.programs = programs;
        this.agents = Files.createDirectory(programs.directory().resolve("agents"));
        this.environment = Map.of(
                "TEMPORAL_ADDRESS",
                temporal,
                EncryptionKeys.VARIABLE,
                "k1:" + MASTER_KEY,
                ThreadKeys.VARIABLE,
                keys.url(DATABASE, PASSWORD));
    }

    private static String masterKey() {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) 7);
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** Writes an agent with a script for its model. */
    void agent(String name, String fields, String script) throws IOException {
        Files.writeString(agents.resolve(name + ".yaml"), "model: scripted:" + name + ".script.yaml\n" + fields + "\n");
        Files.writeString(agents.resolve(name + ".script.yaml"), script);
    }

    /** Writes a program for tools to the directory of the agents. */
    void program(String file, String commands) throws IOException {
        Path program = agents.resolve(file);
        Files.writeString(program, "#!/bin/sh\nset -eu\n" + commands + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** A new client, which has not read the key of any thread yet. */
    AgentClient client() throws Exception {
        AgentClient client = AgentClient.on(Connection.of(environment, Optional.empty()), queue());
        endings.add(client::close);
        return client;
    }

    static String queue() {
        return "agents";
    }

    /**
     * Starts a worker, which has not read the key of any thread yet, with its output in {@code NAME.log}. Returns once
     * the worker takes work.
     */
    Process startWorker(String name) throws IOException {
        Process worker = programs.start(
                name, environment, command("worker", "--json", "--agents", agents.toString(), "--task-queue", queue()));
        endings.add(() -> {
            worker.descendants().forEach(ProcessHandle::destroyForcibly);
            worker.destroyForcibly().onExit().join();
        });
        Awaitility.await()
                .atMost(Duration.ofSeconds(ServerPrograms.PATIENCE_SECONDS))
                .until(() -> log(name).contains("\"ready\":true"));
        return worker;
    }

    String log(String name) throws IOException {
        return Files.readString(programs.directory().resolve(name + ".log"));
    }

    /** The exit code and the output of a worker command. */
    record CommandOutput(int exitCode, String output) {}

    CommandOutput run(String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command(arguments)).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new CommandOutput(process.waitFor(), output);
    }

    private static List<String> command(String... arguments) {
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                WorkerMain.class.getName()));
        words.addAll(List.of(arguments));
        return words;
    }

    @Override
    public void close() {
        endings.forEach(Runnable::run);
    }
}
