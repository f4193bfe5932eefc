package dev.waymark.server;

import dev.waymark.client.AgentClient;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.connect.Connection;
import dev.waymark.fixtures.process.PostgresServer;
import dev.waymark.history.ThreadHistory;
import dev.waymark.history.ThreadHistoryReader;
import dev.waymark.testkit.process.ChildProcess;
import java.io.IOException;
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

/** Threads whose own keys are in PostgreSQL, and worker processes that run them. */
final class EncryptedThreads implements AutoCloseable {
    static final String DATABASE = "thread_keys";
    static final String PASSWORD = "hunter2-of-the-keys";
    static final String MASTER_KEY = masterKey();

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Path directory;
    private final Map<String, String> environment;
    private final Path agents;
    private final List<Runnable> endings = new ArrayList<>();

    /**
     * @param directory for the agents, and the logs of workers
     * @param keys the server in which the database of the keys is created
     */
    EncryptedThreads(Path directory, String temporal, PostgresServer keys) throws IOException, InterruptedException {
        keys.createDatabase(DATABASE);
        this.directory = directory;
        this.agents = Files.createDirectory(directory.resolve("agents"));
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
    ChildProcess startWorker(String name) throws IOException {
        List<String> flags = new ArrayList<>(ChildProcess.SHORT_LIVED);
        flags.add("-Xmx256m");
        ChildProcess worker = ChildProcess.java(flags, AgentsProcess.class, agents.toString(), queue())
                .in(directory)
                .environment(environment)
                .outputTo(directory.resolve(name + ".log"))
                .start();
        endings.add(worker::close);
        Awaitility.await().atMost(PATIENCE).until(() -> log(name).contains(AgentsProcess.READY));
        return worker;
    }

    String log(String name) throws IOException {
        return Files.readString(directory.resolve(name + ".log"));
    }

    /** Reads a thread's history, as {@code export} does. */
    ThreadHistory history(String thread) throws Exception {
        try (Connection connection = Connection.of(environment, Optional.empty())) {
            return new ThreadHistoryReader(connection.client()).read(thread).orElseThrow();
        }
    }

    @Override
    public void close() {
        endings.forEach(Runnable::run);
    }
}
