package dev.waymark.worker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.temporal.api.enums.v1.WorkflowExecutionStatus;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
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
    void server_restarted_hasKeptWhatItWasGiven() throws Exception {
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

    @Test
    void close_running_leavesNoProcess() throws Exception {
        // Other tests of this JVM have servers, too.
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
    void server_itsJvmKilled_endsToo() throws Exception {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Victim.class.getName(),
                        binary.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String address = jvm.inputReader().readLine();
        int port = Integer.parseInt(address.split(":")[1]);
        assertThat(listens(InetAddress.getLoopbackAddress(), port)).isTrue();
        jvm.destroyForcibly().waitFor();
        await().atMost(Duration.ofSeconds(60)).until(() -> !listens(InetAddress.getLoopbackAddress(), port));
    }

    /** A worker that is going to be killed. */
    static final class Victim {
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
    void start_databaseThatIsNone_saysWhatTheServerSaid() throws Exception {
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
