package dev.waymark.worker.server;

import dev.waymark.connect.SearchIndex;
import dev.waymark.saver.PrivateFiles;
import dev.waymark.worker.process.GuardedProgram;
import io.grpc.StatusRuntimeException;
import io.temporal.api.workflowservice.v1.DescribeNamespaceRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
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
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Runs {@code temporal server start-dev} as a child process, which ends with this JVM.
 *
 * <p>The server stores conversations, so its files are readable by their owner only. Its HTTP API cannot be disabled
 * and accepts requests from any web page; it is configured to reject all of them.
 */
final class TemporalServer implements DevServer {

    private static final String NAMESPACE = "default";
    private static final int START_SECONDS = 30;
    private static final int MOST_STARTS = 3;
    private static final int LOG_LINES = 5;
    private static final List<String> ENVIRONMENT = List.of("PATH", "HOME", "LANG", "TMPDIR", "TZ");

    private final Process process;
    private final String address;
    private final String uiAddress;

    private TemporalServer(Process process, String address, String uiAddress) {
        this.process = process;
        this.address = address;
        this.uiAddress = uiAddress;
    }

    static TemporalServer start(Path binary, Optional<Path> database, int port, int uiPort)
            throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return startOnce(binary, database, port, uiPort);
            } catch (PortTakenException e) {
                if (attempt == MOST_STARTS) {
                    throw e;
                }
            }
        }
    }

    /** Another program took a port that was free when this class or the server chose it. */
    private static final class PortTakenException extends IOException {
        PortTakenException(String message) {
            super(message);
        }
    }

    private static TemporalServer startOnce(Path binary, Optional<Path> database, int port, int uiPort)
            throws IOException, InterruptedException {
        int gRpc = free(port);
        int ui = free(uiPort);
        Path log = log(database);
        if (database.isPresent()) {
            PrivateFiles.restrict(database.get());
        }
        ProcessBuilder builder = GuardedProgram.builder(command(binary, database, gRpc, ui))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        // The worker's environment holds keys, and settings for clients of other servers.
        builder.environment().keySet().retainAll(ENVIRONMENT);
        Process process = builder.start();
        TemporalServer server = new TemporalServer(process, "127.0.0.1:" + gRpc, "http://127.0.0.1:" + ui);
        try {
            server.awaitAnswer(log);
            return server;
        } catch (IOException | InterruptedException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public Optional<String> uiAddress() {
        return Optional.of(uiAddress);
    }

    @Override
    public Kind kind() {
        return Kind.TEMPORAL;
    }

    @Override
    public void close() {
        GuardedProgram.end(process);
    }

    private static List<String> command(Path binary, Optional<Path> database, int port, int uiPort) throws IOException {
        List<String> command = new ArrayList<>();
        command.addAll(List.of(binary.toAbsolutePath().toString(), "server", "start-dev", "--ip", "127.0.0.1"));
        command.addAll(List.of("--port", Integer.toString(port), "--ui-port", Integer.toString(uiPort)));
        command.addAll(List.of("--log-level", "warn"));
        // By default, a single shard polls its queue 20 times a second, so each task waits up to 50 ms, and task queues
        // with several partitions but few pollers can stall for seconds. Without more frequent keep-alive checks, the
        // server also keeps sending tasks for a minute to workers that it can no longer reach.
        for (String value : List.of(
                "system.enableActivityEagerExecution=true",
                "history.transferProcessorMaxPollRPS=5000",
                "matching.numTaskqueueReadPartitions=1",
                "matching.numTaskqueueWritePartitions=1",
                "frontend.keepAliveTime=\"10s\"",
                "frontend.keepAliveTimeout=\"5s\"",
                // The HTTP API listens on a port that it chooses, and accepts cross-site posts. No request has this
                // host, so all of them are rejected.
                "frontend.httpAllowedHosts=[\"/\"]",
                "system.enableNexus=false")) {
            command.addAll(List.of("--dynamic-config-value", value));
        }
        if (database.isPresent()) {
            command.addAll(
                    List.of("--db-filename", database.get().toAbsolutePath().toString()));
        }
        return command;
    }

    private static Path log(Optional<Path> database) throws IOException {
        if (database.isEmpty()) {
            Path log = Files.createTempFile("waymark-temporal-", ".log");
            log.toFile().deleteOnExit();
            return log;
        }
        Path file = database.get().toAbsolutePath();
        PrivateFiles.createDirectories(Objects.requireNonNull(file.getParent()));
        String name = file.getFileName().toString();
        String stem = name.endsWith(".db") ? name.substring(0, name.length() - ".db".length()) : name;
        Path log = file.resolveSibling(stem + ".log");
        PrivateFiles.create(log);
        return log;
    }

    private void awaitAnswer(Path log) throws IOException, InterruptedException {
        WorkflowServiceStubs stubs = WorkflowServiceStubs.newServiceStubs(
                WorkflowServiceStubsOptions.newBuilder().setTarget(address).build());
        try {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
            while (!answers(stubs)) {
                if (process.waitFor(50, TimeUnit.MILLISECONDS)) {
                    String message = "temporal ended with exit code " + process.exitValue() + end(log);
                    throw message.contains("address already in use")
                            ? new PortTakenException(message)
                            : new IOException(message);
                }
                if (System.nanoTime() > deadline) {
                    throw new IOException("temporal did not answer within " + START_SECONDS + " s" + end(log));
                }
            }
            new SearchIndex(stubs, NAMESPACE).create();
        } finally {
            stubs.shutdownNow();
        }
    }

    /** Also queries the namespace, which is ready last. */
    private static boolean answers(WorkflowServiceStubs stubs) {
        try {
            stubs.blockingStub()
                    .withDeadlineAfter(2, TimeUnit.SECONDS)
                    .getSystemInfo(GetSystemInfoRequest.getDefaultInstance());
            stubs.blockingStub()
                    .withDeadlineAfter(2, TimeUnit.SECONDS)
                    .describeNamespace(DescribeNamespaceRequest.newBuilder()
                            .setNamespace(NAMESPACE)
                            .build());
            return true;
        } catch (StatusRuntimeException e) {
            return false;
        }
    }

    private static String end(Path log) throws IOException {
        List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.isBlank())
                .toList();
        String end = String.join(" / ", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
        return end.isEmpty() ? "" : ": " + end;
    }

    private static int free(int port) throws IOException {
        try (ServerSocket probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
            return probe.getLocalPort();
        } catch (BindException e) {
            throw new BindException(port + " is in use");
        }
    }
}
