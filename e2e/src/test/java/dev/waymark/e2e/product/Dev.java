package dev.waymark.e2e.product;

import dev.waymark.testkit.process.ChildProcess;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** {@code waymark dev} in a separate process: a server and, unless disabled, a worker. */
public final class Dev implements AutoCloseable {
    private final ChildProcess process;
    private final String address;

    private Dev(ChildProcess process, String address) {
        this.process = process;
        this.address = address;
    }

    /** Starts the in-memory server without a saver, and a worker. Returns once the worker is ready. */
    public static Dev inMemory(Path agents) {
        return start(agents, "--in-memory", "--volatile");
    }

    /** Like {@link #inMemory(Path)}, with these environment variables. */
    public static Dev inMemory(Path agents, Map<String, String> environment) {
        return start(agents, environment, "--in-memory", "--volatile");
    }

    /** Starts the in-memory server and a worker. Clients save named threads to a directory next to the agents. */
    public static Dev inMemoryAndKept(Path agents) {
        return start(agents, "--in-memory");
    }

    /**
     * Starts the real development server, with its database in this directory, and a worker. Skips the test if the
     * server's binary is missing.
     */
    public static Dev durable(Path agents) {
        return startDurable(agents, Map.of());
    }

    /** Like {@link #durable(Path)}, with these environment variables. */
    public static Dev durable(Path agents, Map<String, String> environment) {
        return startDurable(agents, environment);
    }

    /** Starts only the in-memory server, for tests that start their own workers. */
    public static Dev inMemoryWithoutWorker(Path directory) {
        return start(directory, "--in-memory", "--volatile", "--no-worker");
    }

    /** Like {@link #durable(Path)}, without a worker. */
    public static Dev durableWithoutWorker(Path directory) {
        return startDurable(directory, Map.of(), "--no-worker");
    }

    private static Dev startDurable(Path agents, Map<String, String> environment, String... more) {
        boolean hasBinary = System.getenv("TEMPORAL_CLI") != null
                || Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "temporal")));
        Assumptions.assumeTrue(hasBinary, "no temporal binary on PATH nor in TEMPORAL_CLI");
        String database = agents.resolve("temporal.db").toString();
        List<String> options = new ArrayList<>(List.of("--db", database, "--ui-port", "0"));
        options.addAll(List.of(more));
        return start(agents, environment, options.toArray(String[]::new));
    }

    private static Dev start(Path agents, String... more) {
        return start(agents, Map.of(), more);
    }

    private static Dev start(Path agents, Map<String, String> environment, String... more) {
        List<String> arguments = new ArrayList<>(List.of("dev", "--json", "--port", "0", "--no-console"));
        arguments.addAll(List.of("--agents", agents.toString()));
        arguments.addAll(List.of(more));
        ReadyProcess dev = ReadyProcess.start(ScriptFile.command(arguments.toArray(String[]::new))
                .in(agents)
                .environment(environment)
                .errorsTo(agents.resolve("dev.log")));
        return new Dev(dev.process(), dev.line().get("address").textValue());
    }

    public String address() {
        return address;
    }

    /** Kills the processes without warning. Everything in memory is lost. */
    public void kill() {
        process.close();
    }

    @Override
    public void close() {
        try {
            process.handle().destroy();
            process.exitCodeWithin(Duration.ofSeconds(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.close();
    }
}
