package dev.waymark.worker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.testkit.process.ChildProcess;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.IOException;
import java.net.BindException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("server")
@Tag("full")
@Timeout(120)
class TemporalServerTest {

    private static Path binary;

    @TempDir
    Path directory;

    @BeforeAll
    static void find() throws Exception {
        Optional<Path> found = TemporalBinary.find();
        Assumptions.assumeTrue(found.isPresent(), "no temporal binary");
        binary = found.get();
    }

    @Test
    void server_restarted_hasKeptItsThreads() throws Exception {
        Path database = directory.resolve("new/temporal.db");
        try (DevServer server = DevServer.temporal(binary, Optional.of(database), 0, 0)) {
            withClient(server, client -> stub(client).start());
        }
        try (DevServer server = DevServer.temporal(binary, Optional.of(database), 0, 0)) {
            WorkflowExecutionStatus status = withClient(
                    server,
                    client -> client.newUntypedWorkflowStub("kept").describe().getStatus());
            assertThat(status).isEqualTo(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING);
            assertThat(database.resolveSibling("temporal.log")).exists();
        }
    }

    @Test
    void server_started_servesItsWebUiToThisMachineOnly() throws Exception {
        try (DevServer server = DevServer.temporal(binary, Optional.empty(), 0, 0)) {
            assertThat(server.kind()).isEqualTo(DevServer.Kind.TEMPORAL);
            URI ui = URI.create(server.uiAddress().orElseThrow());
            assertThat(((HttpURLConnection) ui.toURL().openConnection()).getResponseCode())
                    .isEqualTo(200);
            List<InetAddress> others = NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> !address.isLoopbackAddress())
                    .toList();
            int port = Integer.parseInt(server.address().split(":")[1]);
            for (InetAddress other : others) {
                assertThat(listens(other, port)).isFalse();
                assertThat(listens(other, ui.getPort())).isFalse();
            }
        }
    }

    /** A port that is free when it is chosen may be taken before the server listens on it. */
    @Test
    void server_portTakenAtTheLastMoment_startsOnAnother() throws Exception {
        Path unlucky =
                Files.writeString(directory.resolve("temporal"), """
                #!/bin/sh
                echo started >>%1$s
                [ "$(wc -l <%1$s)" -gt 1 ] || { echo "listen tcp 127.0.0.1:1: bind: address already in use"; exit 1; }
                exec %2$s "$@"
                """.formatted(directory.resolve("starts"), binary));
        assertThat(unlucky.toFile().setExecutable(true)).isTrue();

        try (DevServer server = DevServer.temporal(unlucky, Optional.empty(), 0, 0)) {
            withClient(server, client -> stub(client).start());
        }
        assertThat(directory.resolve("starts")).content().isEqualTo("started\nstarted\n");
    }

    @Test
    void close_running_leavesNoProcess() throws Exception {
        // Other tests in this JVM run servers, too.
        List<ProcessHandle> others = ProcessHandle.current().descendants().toList();
        List<ProcessHandle> processes;
        try (DevServer server = DevServer.temporal(binary, Optional.empty(), 0, 0)) {
            processes = ProcessHandle.current()
                    .descendants()
                    .filter(process -> !others.contains(process))
                    .toList();
            assertThat(server.address()).startsWith("127.0.0.1:");
        }
        assertThat(processes).hasSizeGreaterThan(1).noneMatch(ProcessHandle::isAlive);
    }

    @Test
    void server_jvmKilled_endsToo() throws Exception {
        ChildProcess jvm = ChildProcess.java(ChildProcess.SHORT_LIVED, ServerStarter.class, binary.toString())
                .showingErrors()
                .start();
        String address = jvm.firstLine(Duration.ofMinutes(1));
        int port = Integer.parseInt(address.split(":")[1]);
        assertThat(listens(InetAddress.getLoopbackAddress(), port)).isTrue();
        jvm.kill();
        await().atMost(Duration.ofSeconds(60)).until(() -> !listens(InetAddress.getLoopbackAddress(), port));
    }

    /** A closed terminal or a service manager kills a worker in this way. */
    @Test
    void server_processGroupOfTheJvmKilled_endsToo() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/setsid")), "no setsid");
        List<String> command = new ArrayList<>(List.of("/usr/bin/setsid"));
        command.addAll(ChildProcess.javaCommand(ChildProcess.SHORT_LIVED, ServerStarter.class, binary.toString()));
        ChildProcess jvm = ChildProcess.of(command).showingErrors().start();
        String address = jvm.firstLine(Duration.ofMinutes(1));
        int port = Integer.parseInt(address.split(":")[1]);
        assertThat(listens(InetAddress.getLoopbackAddress(), port)).isTrue();
        ChildProcess.of("kill", "-KILL", "--", "-" + jvm.handle().pid()).run(Duration.ofMinutes(1));
        jvm.end(Duration.ofMinutes(1));
        await().atMost(Duration.ofSeconds(60)).until(() -> !listens(InetAddress.getLoopbackAddress(), port));
    }

    @Test
    void server_anyPort_rejectsRequestsOfWebPages() throws Exception {
        Assumptions.assumeTrue(Files.isReadable(Path.of("/proc/net/tcp")), "no /proc");
        List<ProcessHandle> others = ProcessHandle.current().descendants().toList();
        try (DevServer server = DevServer.temporal(binary, Optional.empty(), 0, 0)) {
            withClient(server, client -> stub(client).start());
            Set<Integer> ports = new TreeSet<>();
            for (ProcessHandle process : ProcessHandle.current().descendants().toList()) {
                if (!others.contains(process)) {
                    ports.addAll(ListeningPorts.of(process.pid()));
                }
            }
            List<Integer> answers = new ArrayList<>();
            for (int port : ports) {
                for (String path : List.of("/api/v1", "")) {
                    answers.add(crossSitePost(port, path + "/namespaces/default/workflows/kept/signal/approve"));
                }
            }
            // At least the ports of gRPC, its HTTP API, the Web UI and the metrics. One of them answers with 403.
            assertThat(ports).hasSizeGreaterThan(3);
            assertThat(answers).contains(403).doesNotContain(200);
            List<EventType> events = withClient(
                    server,
                    client -> client.fetchHistory("kept").getEvents().stream()
                            .map(HistoryEvent::getEventType)
                            .toList());
            assertThat(events)
                    .contains(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED)
                    .doesNotContain(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED);
        }
    }

    /**
     * The status, or -1 for a port that does not speak HTTP/1. A browser sends such a request without a preflight
     * request.
     */
    private static int crossSitePost(int port, String path) throws InterruptedException {
        try {
            return HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                    .version(HttpClient.Version.HTTP_1_1)
                                    .timeout(Duration.ofSeconds(5))
                                    .header("Origin", "https://elsewhere.example")
                                    .header("Content-Type", "text/plain")
                                    .POST(HttpRequest.BodyPublishers.ofString("{\"input\":[{\"by\":\"ann\"}]}"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .statusCode();
        } catch (IOException e) {
            return -1;
        }
    }

    @Test
    void files_ofADatabase_areReadableByTheirOwnerOnly() throws Exception {
        Path database = directory.resolve("new/temporal.db");
        try (DevServer server = DevServer.temporal(binary, Optional.of(database), 0, 0)) {
            assertThat(server.kind()).isEqualTo(DevServer.Kind.TEMPORAL);
            assertThat(permissions(directory.resolve("new"))).isEqualTo("rwx------");
            try (Stream<Path> files = Files.list(directory.resolve("new"))) {
                assertThat(files.toList())
                        .hasSizeGreaterThan(1)
                        .allSatisfy(file -> assertThat(permissions(file)).isEqualTo("rw-------"));
            }
        }
    }

    @Test
    void files_readableByOthers_becomePrivate() throws Exception {
        Path database = directory.resolve("temporal.db");
        try (DevServer server = DevServer.temporal(binary, Optional.of(database), 0, 0)) {
            assertThat(server.kind()).isEqualTo(DevServer.Kind.TEMPORAL);
        }
        Files.setPosixFilePermissions(database, PosixFilePermissions.fromString("rw-r--r--"));
        try (DevServer server = DevServer.temporal(binary, Optional.of(database), 0, 0)) {
            assertThat(server.kind()).isEqualTo(DevServer.Kind.TEMPORAL);
            assertThat(permissions(database)).isEqualTo("rw-------");
        }
    }

    private static String permissions(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    /** A JVM that has started a server, and that the test kills. */
    static final class ServerStarter {
        public static void main(String[] args) throws Exception {
            DevServer server = DevServer.temporal(Path.of(args[0]), Optional.empty(), 0, 0);
            System.out.println(server.address());
            Thread.sleep(Long.MAX_VALUE);
        }
    }

    @Test
    void start_portTaken_saysSoInOneLine() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            int port = taken.getLocalPort();
            assertThatThrownBy(() -> DevServer.temporal(binary, Optional.empty(), port, 0))
                    .isInstanceOf(BindException.class)
                    .hasMessage(port + " is in use");
            assertThatThrownBy(() -> DevServer.temporal(binary, Optional.empty(), 0, port))
                    .isInstanceOf(BindException.class)
                    .hasMessage(port + " is in use");
        }
    }

    @Test
    void start_invalidDatabase_quotesTheServer() throws Exception {
        Path database = Files.createDirectories(directory.resolve("not-a-file.db"));
        assertThatThrownBy(() -> DevServer.temporal(binary, Optional.of(database), 0, 0))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("temporal ended with exit code 1: ")
                .hasMessageContaining("failed starting server");
    }

    private static WorkflowStub stub(WorkflowClient client) {
        return client.newUntypedWorkflowStub(
                "Nothing",
                WorkflowOptions.newBuilder()
                        .setWorkflowId("kept")
                        .setTaskQueue("nobody")
                        .build());
    }

    private static <T> T withClient(DevServer server, Function<WorkflowClient, T> work) {
        WorkflowServiceStubs stubs = WorkflowServiceStubs.newServiceStubs(WorkflowServiceStubsOptions.newBuilder()
                .setTarget(server.address())
                .build());
        try {
            return work.apply(WorkflowClient.newInstance(stubs));
        } finally {
            stubs.shutdownNow();
        }
    }

    private static boolean listens(InetAddress address, int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
