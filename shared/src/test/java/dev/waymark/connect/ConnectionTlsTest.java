package dev.waymark.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.stub.StreamObserver;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoResponse;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Connections over TLS to a server whose certificate has another name than its address, that requires a client
 * certificate, and an API key.
 */
@Timeout(60)
class ConnectionTlsTest {
    private static final String NAME = "temporal.internal";
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    @TempDir
    static Path dir;

    private static Server server;

    /** A server that answers only requests with the API key. */
    private static final class KeyedServer extends WorkflowServiceGrpc.WorkflowServiceImplBase
            implements ServerInterceptor {
        @Override
        public void getSystemInfo(GetSystemInfoRequest request, StreamObserver<GetSystemInfoResponse> answer) {
            answer.onNext(GetSystemInfoResponse.newBuilder()
                    .setServerVersion("1.29.0")
                    .build());
            answer.onCompleted();
        }

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            if ("Bearer secret".equals(headers.get(AUTHORIZATION))) {
                return next.startCall(call, headers);
            }
            call.close(Status.UNAUTHENTICATED.withDescription("no key"), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }

    @BeforeAll
    static void begin() throws Exception {
        identity("server", NAME);
        identity("client", "client.internal");
        KeyedServer keyed = new KeyedServer();
        server = NettyServerBuilder.forPort(0)
                .sslContext(GrpcSslContexts.forServer(file("server.pem"), file("server.key"))
                        .trustManager(file("client.pem"))
                        .clientAuth(ClientAuth.REQUIRE)
                        .build())
                .addService(keyed)
                .intercept(keyed)
                .build()
                .start();
    }

    @AfterAll
    static void end() {
        server.shutdownNow();
    }

    private static File file(String name) {
        return dir.resolve(name).toFile();
    }

    /** Writes a key and a certificate that is its own authority. */
    private static void identity(String alias, String name)
            throws IOException, InterruptedException, GeneralSecurityException {
        Path store = dir.resolve(alias + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-J-XX:TieredStopAtLevel=1",
                        "-genkeypair",
                        "-alias",
                        alias,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "san=dns:" + name,
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        "password")
                .redirectErrorStream(true)
                .redirectOutput(dir.resolve(alias + ".log").toFile())
                .start();
        assertThat(keytool.waitFor())
                .as(Files.readString(dir.resolve(alias + ".log")))
                .isZero();
        char[] password = "password".toCharArray();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, password);
        }
        pem(alias + ".pem", "CERTIFICATE", keys.getCertificate(alias).getEncoded());
        pem(alias + ".key", "PRIVATE KEY", keys.getKey(alias, password).getEncoded());
    }

    private static void pem(String name, String what, byte[] content) throws IOException {
        Files.writeString(
                dir.resolve(name),
                "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END "
                        + what + "-----\n");
    }

    private static Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("TEMPORAL_ADDRESS", "127.0.0.1:" + server.getPort());
        settings.put("TEMPORAL_CONFIG_FILE", dir.resolve("none.toml").toString());
        settings.put("TEMPORAL_API_KEY", "secret");
        settings.put("TEMPORAL_TLS_SERVER_NAME", NAME);
        settings.put(
                "TEMPORAL_TLS_SERVER_CA_CERT_PATH", dir.resolve("server.pem").toString());
        settings.put("TEMPORAL_TLS_CLIENT_CERT_PATH", dir.resolve("client.pem").toString());
        settings.put("TEMPORAL_TLS_CLIENT_KEY_PATH", dir.resolve("client.key").toString());
        return settings;
    }

    private static ServerUnreachable failure(Map<String, String> settings) {
        return catchThrowableOfType(
                ServerUnreachable.class,
                () -> Connection.of(settings, Optional.empty()).close());
    }

    private static String target() {
        return "127.0.0.1:" + server.getPort();
    }

    @Test
    void serverName_isTheNameThatTheCertificateMustHave() throws ServerUnreachable {
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
    void wrongApiKey_isARefusal() {
        Map<String, String> settings = settings();
        settings.put("TEMPORAL_API_KEY", "guessed");

        ServerUnreachable refused = failure(settings);

        assertThat(refused).hasMessage("the Temporal server refuses this client: " + target() + " (UNAUTHENTICATED)");
        assertThat(refused.advice())
                .hasValueSatisfying(words -> assertThat(words).contains("TEMPORAL_API_KEY"));
    }

    private static void isHandshake(ServerUnreachable failure) {
        assertThat(failure.getMessage())
                .startsWith("the TLS handshake with the Temporal server failed: " + target() + " (");
        assertThat(failure.advice())
                .hasValueSatisfying(words -> assertThat(words).contains("TEMPORAL_TLS_SERVER_NAME"));
    }
}
