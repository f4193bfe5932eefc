package dev.waymark.worker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.connect.Connection;
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
import java.util.Optional;
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

    @Test
    void connection_toAServerWithADefaultSaver_knowsIt() throws Exception {
        String target = "file:/home/jürgen/.waymark/threads";
        try (InMemoryServer server = InMemoryServer.start(0, Optional.of(target));
                Connection connection = Connection.to(server.address())) {
            assertThat(connection.defaultSaver()).contains(target);
            assertThat(connection.isInMemory()).isTrue();
        }
    }

    @Test
    void connection_toAServerThatNamesMoreThanADirectory_doesNotListen() throws Exception {
        for (Optional<String> other : List.of(Optional.<String>empty(), Optional.of("jdbc:postgresql://db/agents"))) {
            try (InMemoryServer server = InMemoryServer.start(0, other);
                    Connection connection = Connection.to(server.address())) {
                assertThat(connection.defaultSaver()).isEmpty();
            }
        }
    }

    private static void connect(InetAddress address, int port) throws Exception {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), 1000);
        }
    }
}
