package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ConnectionException;
import dev.waymark.e2e.product.TlsFront;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoResponse;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Connections over TLS to a server that requires a client certificate and an API key. The name in its certificate
 * differs from its address.
 */
@Timeout(180)
class ConnectionTlsTest {
    @TempDir
    static Path dir;

    private static Server server;
    private static TlsFront front;

    private static final class AnsweringServer extends WorkflowServiceGrpc.WorkflowServiceImplBase {
        @Override
        public void getSystemInfo(GetSystemInfoRequest request, StreamObserver<GetSystemInfoResponse> answer) {
            answer.onNext(GetSystemInfoResponse.newBuilder()
                    .setServerVersion("1.29.0")
                    .build());
            answer.onCompleted();
        }
    }

    @BeforeAll
    static void begin() throws Exception {
        server = NettyServerBuilder.forPort(0)
                .addService(new AnsweringServer())
                .build()
                .start();
        front = new TlsFront("127.0.0.1:" + server.getPort(), dir);
    }

    @AfterAll
    static void end() {
        front.close();
        server.shutdownNow();
    }

    private static Map<String, String> settings() {
        return new LinkedHashMap<>(front.settings());
    }

    private static ConnectionException failure(Map<String, String> settings) {
        return catchThrowableOfType(
                ConnectionException.class,
                () -> Connection.of(settings, Optional.empty()).close());
    }

    @Test
    void serverName_isTheNameThatTheCertificateMustHave() {
        try (Connection connection = Connection.of(settings(), Optional.empty())) {
            assertThat(connection.isInMemory()).isFalse();
        }
    }

    @Test
    void otherServerName_failsAsHandshake() {
        Map<String, String> settings = settings();
        settings.put("TEMPORAL_TLS_SERVER_NAME", "another.internal");

        assertThat(failure(settings))
                .satisfies(ConnectionTlsTest::isHandshake)
                .hasMessageContaining("another.internal");
    }

    @Test
    void unknownAuthority_failsAsHandshake() {
        Map<String, String> settings = settings();
        settings.put(
                "TEMPORAL_TLS_SERVER_CA_CERT_PATH", dir.resolve("client.pem").toString());

        assertThat(failure(settings)).satisfies(ConnectionTlsTest::isHandshake);
    }

    @Test
    void missingClientCertificate_failsAsHandshake() {
        Map<String, String> settings = settings();
        settings.remove("TEMPORAL_TLS_CLIENT_CERT_PATH");
        settings.remove("TEMPORAL_TLS_CLIENT_KEY_PATH");

        assertThat(failure(settings)).satisfies(ConnectionTlsTest::isHandshake);
    }

    @Test
    void serverWithoutTls_failsAsHandshake() throws IOException {
        Server plain = NettyServerBuilder.forPort(0).build().start();
        try {
            Map<String, String> settings = settings();
            settings.put("TEMPORAL_ADDRESS", "127.0.0.1:" + plain.getPort());

            assertThat(failure(settings).getMessage())
                    .startsWith("the TLS handshake with the Temporal server failed: 127.0.0.1:" + plain.getPort());
        } finally {
            plain.shutdownNow();
        }
    }

    @Test
    void unreadableCertificate_isNamed() {
        Map<String, String> settings = settings();
        settings.put("TEMPORAL_TLS_CLIENT_CERT_PATH", dir.resolve("gone.pem").toString());

        assertThat(failure(settings))
                .hasMessage("the TLS settings can't be used: no such file: " + dir.resolve("gone.pem"));
    }

    @Test
    void wrongApiKey_isReportedAsRefused() {
        Map<String, String> settings = settings();
        settings.put("TEMPORAL_API_KEY", "guessed");

        ConnectionException refused = failure(settings);

        assertThat(refused)
                .hasMessage("the Temporal server refuses this client: " + front.address() + " (UNAUTHENTICATED)");
        assertThat(refused.advice())
                .hasValueSatisfying(words -> assertThat(words).contains("TEMPORAL_API_KEY"));
    }

    private static void isHandshake(ConnectionException failure) {
        assertThat(failure.getMessage())
                .startsWith("the TLS handshake with the Temporal server failed: " + front.address() + " (");
        assertThat(failure.advice())
                .hasValueSatisfying(words -> assertThat(words).contains("TEMPORAL_TLS_SERVER_NAME"));
    }
}
