package dev.waymark.bench;

import dev.waymark.connect.Connection;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.history.HistoryReader;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The stage of benchmarks, chaos and soak: a real Temporal server, started like that of {@code ./waymark dev}, with its
 * database in a temporary directory.
 */
public final class BenchServer implements AutoCloseable {
    private static final int PATIENCE_MINUTES = 5;

    private final Path directory;
    private final KillableServer server;
    private final Connection connection;
    private boolean isKept;

    private BenchServer(Path directory, KillableServer server, Connection connection) {
        this.directory = directory;
        this.server = server;
        this.connection = connection;
    }

    /** @param name is part of the name of the temporary directory */
    public static BenchServer open(String name) throws IOException, InterruptedException {
        Path binary = TemporalBinary.find()
                .orElseThrow(() -> new NoSuchFileException("temporal", null, "not on PATH; TEMPORAL_CLI may name it"));
        Path directory = Files.createTempDirectory("waymark-" + name + "-");
        Optional<Path> database = Optional.of(directory.resolve("temporal.db"));
        KillableServer server = KillableServer.start(binary, port -> DevServer.temporal(binary, database, port, 0));
        return new BenchServer(directory, server, Connection.to(server.address()));
    }

    public Connection connection() {
        return connection;
    }

    /** A temporary directory that is deleted with the server, unless it is kept. */
    public Path directory() {
        return directory;
    }

    /** Says whether the directory stays when this is closed. */
    public void keep(boolean isKept) {
        this.isKept = isKept;
    }

    /** The server, to be killed and started again. */
    public KillableServer server() {
        return server;
    }

    public String address() {
        return server.address();
    }

    String serverVersion() {
        return connection
                .stubs()
                .blockingStub()
                .getSystemInfo(GetSystemInfoRequest.getDefaultInstance())
                .getServerVersion();
    }

    /**
     * Returns the values of the server's {@code --dynamic-config-value} flags, read from the command line of its
     * process.
     */
    List<String> serverFlags() {
        return ProcessHandle.current()
                .descendants()
                .map(process -> List.of(process.info().arguments().orElse(new String[0])))
                .filter(arguments -> !arguments.isEmpty() && arguments.get(0).equals("server"))
                .findFirst()
                .map(BenchServer::values)
                .orElse(List.of());
    }

    private static List<String> values(List<String> arguments) {
        List<String> values = new ArrayList<>();
        for (int i = 1; i < arguments.size(); i++) {
            if (arguments.get(i - 1).equals("--dynamic-config-value")) {
                values.add(arguments.get(i));
            }
        }
        return values;
    }

    /** Waits until the workflow has no pending activity and no pending workflow task. */
    void awaitStandstill(WorkflowStub stub) throws InterruptedException {
        HistoryReader histories = new HistoryReader(connection.client());
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
        while (true) {
            DescribeWorkflowExecutionResponse run =
                    histories.describe(stub.getExecution().getWorkflowId()).orElseThrow();
            if (run.getPendingActivitiesCount() == 0 && !run.hasPendingWorkflowTask()) {
                return;
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("did not start to wait: " + stub.getExecution());
            }
            Thread.sleep(100);
        }
    }

    @Override
    public void close() {
        connection.close();
        server.close();
        if (isKept) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            System.err.println("left behind: " + directory);
        }
    }
}
