package dev.waymark.worker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InMemoryServerTest {

    @Test
    void server_started_answersClients() {
        try (InMemoryServer server = InMemoryServer.start(0)) {
            WorkflowServiceStubs stubs = WorkflowServiceStubs.newServiceStubs(WorkflowServiceStubsOptions.newBuilder()
                    .setTarget(server.address())
                    .build());
            stubs.healthCheck();
            stubs.shutdownNow();
            assertThat(stubs.awaitTermination(5, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void server_started_listensOnLoopbackOnly() throws Exception {
        List<InetAddress> others = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress())
                .toList();
        try (InMemoryServer server = InMemoryServer.start(0)) {
            for (InetAddress other : others) {
                assertThatThrownBy(() -> connect(other, server.port())).isInstanceOf(ConnectException.class);
            }
        }
    }

    @Test
    void start_portTaken_throws() {
        try (InMemoryServer server = InMemoryServer.start(0)) {
            assertThatThrownBy(() -> InMemoryServer.start(server.port())).isInstanceOf(UncheckedIOException.class);
        }
    }

    @Test
    void inMemory_portTaken_saysSoInOneLine() {
        try (InMemoryServer server = InMemoryServer.start(0)) {
            assertThatThrownBy(() -> DevServer.inMemory(server.port()))
                    .isInstanceOf(BindException.class)
                    .hasMessage(server.port() + " is in use");
        }
    }

    private static void connect(InetAddress address, int port) throws Exception {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), 1000);
        }
    }
}
