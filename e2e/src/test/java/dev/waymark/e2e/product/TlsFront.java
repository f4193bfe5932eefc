package dev.waymark.e2e.product;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.HandlerRegistry;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SNIHostName;
import org.jspecify.annotations.Nullable;

/**
 * A server on loopback that forwards calls to a Temporal server without TLS. The name in its certificate differs from
 * its address. It requires that name, a client certificate, and an API key.
 */
public final class TlsFront implements AutoCloseable {
    /** The name in the certificate. */
    public static final String NAME = "temporal.internal";

    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final Path dir;
    private final ManagedChannel target;
    private final Server server;

    /**
     * @param target the server's address, as {@code host:port}
     * @param dir where the certificates and keys are written
     */
    public TlsFront(String target, Path dir) throws IOException, InterruptedException, GeneralSecurityException {
        this.dir = dir;
        identity("server", NAME);
        identity("client", "client.internal");
        this.target = NettyChannelBuilder.forTarget(target).usePlaintext().build();
        this.server = NettyServerBuilder.forPort(0)
                .sslContext(GrpcSslContexts.forServer(
                                file("server.pem").toFile(), file("server.key").toFile())
                        .trustManager(file("client.pem").toFile())
                        .clientAuth(ClientAuth.REQUIRE)
                        .build())
                .fallbackHandlerRegistry(new Forwarding())
                .intercept(new Gatekeeper())
                .build()
                .start();
    }

    public String address() {
        return "127.0.0.1:" + server.getPort();
    }

    /** A certificate or key: {@code server.pem}, {@code client.pem} or {@code client.key}. */
    public Path file(String name) {
        return dir.resolve(name);
    }

    /** The environment variables with which clients can connect. */
    public Map<String, String> settings() {
        return Map.of(
                "TEMPORAL_ADDRESS", address(),
                "TEMPORAL_CONFIG_FILE", file("none.toml").toString(),
                "TEMPORAL_API_KEY", "secret",
                "TEMPORAL_TLS_SERVER_NAME", NAME,
                "TEMPORAL_TLS_SERVER_CA_CERT_PATH", file("server.pem").toString(),
                "TEMPORAL_TLS_CLIENT_CERT_PATH", file("client.pem").toString(),
                "TEMPORAL_TLS_CLIENT_KEY_PATH", file("client.key").toString());
    }

    @Override
    public void close() {
        server.shutdownNow();
        target.shutdownNow();
    }

    /** Refuses calls without the API key, and connections that do not request the name. */
    private static final class Gatekeeper implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            Optional<List<?>> asked = Optional.ofNullable(call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION))
                    .map(session -> ((ExtendedSSLSession) session).getRequestedServerNames());
            if ("Bearer secret".equals(headers.get(AUTHORIZATION))
                    && asked.equals(Optional.of(List.of(new SNIHostName(NAME))))) {
                return next.startCall(call, headers);
            }
            call.close(Status.UNAUTHENTICATED.withDescription("no key, or another name"), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }

    /** Forwards all calls. All methods of Temporal have one request and one answer. */
    private final class Forwarding extends HandlerRegistry {
        @Override
        public ServerMethodDefinition<byte[], byte[]> lookupMethod(String name, @Nullable String authority) {
            MethodDescriptor<byte[], byte[]> method = MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                    .setType(MethodDescriptor.MethodType.UNARY)
                    .setFullMethodName(name)
                    .build();
            return ServerMethodDefinition.create(
                    method,
                    ServerCalls.asyncUnaryCall((request, answer) ->
                            ClientCalls.asyncUnaryCall(target.newCall(method, CallOptions.DEFAULT), request, answer)));
        }
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream message) {
            try {
                return message.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Writes a key and a certificate that is its own authority. */
    private void identity(String alias, String name)
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

    private void pem(String name, String what, byte[] content) throws IOException {
        Files.writeString(
                dir.resolve(name),
                "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(content) + "\n-----END "
                        + what + "-----\n");
    }
}
