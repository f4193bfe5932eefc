package dev.waymark.starter.codec;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.contract.PayloadJson;
import dev.waymark.keystore.KeyStoreException;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.Payloads;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiFunction;

/**
 * Answers {@code POST /decode} and {@code POST /encode} of Temporal's remote codec protocol. Every request needs the
 * bearer token, or the cookie of a browser that signed in with it. Only one origin may send requests from a browser.
 * Payloads encoded here are bound to their namespace but not to a thread, which the protocol does not name.
 *
 * <p>The answer replaces each payload of a forgotten thread with a message. An error response would hide the other
 * payloads of the request. The Web UI and the CLI do not show the text of an error, and the CLI repeats failed requests
 * until its command fails.
 */
public final class CodecServer implements AutoCloseable {
    private static final int MAX_BODY_BYTES = 16 * 1024 * 1024;
    private static final int THREADS = 4;

    private final EncryptionKeys keys;
    private final Optional<ThreadKeys> threadKeys;
    private final CodecAccess access;
    private final Optional<String> origin;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

    private CodecServer(
            HttpServer server,
            EncryptionKeys keys,
            Optional<ThreadKeys> threadKeys,
            String token,
            Optional<String> origin) {
        this.server = server;
        this.keys = keys;
        this.threadKeys = threadKeys;
        this.access = new CodecAccess(token);
        this.origin = origin;
    }

    /**
     * Starts the server.
     *
     * @param origin the origin of the Web UI, such as {@code http://127.0.0.1:8233}; empty to reject browsers
     */
    public static CodecServer start(
            InetSocketAddress address,
            EncryptionKeys keys,
            Optional<ThreadKeys> threadKeys,
            String token,
            Optional<String> origin)
            throws IOException {
        CodecServer codec = new CodecServer(HttpServer.create(address, 64), keys, threadKeys, token, origin);
        codec.server.setExecutor(codec.threads);
        codec.server.createContext("/decode", exchange -> codec.answer(exchange, CodecServer::decoded));
        codec.server.createContext("/encode", exchange -> codec.answer(exchange, PayloadCodec::encode));
        codec.server.createContext("/", codec.access::signIn);
        codec.server.start();
        return codec;
    }

    public int port() {
        return server.getAddress().getPort();
    }

    private void answer(HttpExchange exchange, BiFunction<PayloadCodec, List<Payload>, List<Payload>> operation)
            throws IOException {
        try (exchange) {
            boolean foreign = isForeign(exchange);
            if (!foreign) {
                allowOrigin(exchange);
            }
            if (foreign) {
                send(exchange, 403, "this origin is not allowed");
            } else if (exchange.getRequestMethod().equals("OPTIONS")) {
                exchange.sendResponseHeaders(204, -1);
            } else if (!access.isAllowed(exchange)) {
                exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
                send(exchange, 401, "a valid bearer token is required; browsers sign in at /");
            } else if (!exchange.getRequestMethod().equals("POST")) {
                send(exchange, 405, "only POST is supported");
            } else {
                transform(exchange, operation);
            }
        }
    }

    private boolean isForeign(HttpExchange exchange) {
        String asking = exchange.getRequestHeaders().getFirst("Origin");
        return asking != null && !Optional.of(asking).equals(origin);
    }

    private void allowOrigin(HttpExchange exchange) {
        exchange.getResponseHeaders().set("Vary", "Origin");
        origin.filter(allowed -> exchange.getRequestHeaders().containsKey("Origin"))
                .ifPresent(allowed -> {
                    exchange.getResponseHeaders().set("Access-Control-Allow-Origin", allowed);
                    exchange.getResponseHeaders().set("Access-Control-Allow-Methods", "POST, OPTIONS");
                    exchange.getResponseHeaders()
                            .set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace");
                    exchange.getResponseHeaders().set("Access-Control-Allow-Credentials", "true");
                });
    }

    private void transform(HttpExchange exchange, BiFunction<PayloadCodec, List<Payload>, List<Payload>> operation)
            throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
        if (body.length > MAX_BODY_BYTES) {
            send(exchange, 413, "a request may have at most " + MAX_BODY_BYTES + " bytes");
            return;
        }
        // Temporal's CLI sends an empty header unless it was called with --namespace.
        String namespace = Optional.ofNullable(exchange.getRequestHeaders().getFirst("X-Namespace"))
                .filter(name -> !name.isBlank())
                .orElse("default");
        try {
            Payloads.Builder given = Payloads.newBuilder();
            JsonFormat.parser().ignoringUnknownFields().merge(new String(body, StandardCharsets.UTF_8), given);
            List<Payload> done =
                    operation.apply(new EncryptionCodec(keys, threadKeys, namespace), given.getPayloadsList());
            byte[] json = JsonFormat.printer()
                    .omittingInsignificantWhitespace()
                    .print(Payloads.newBuilder().addAllPayloads(done))
                    .getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, json.length);
            exchange.getResponseBody().write(json);
        } catch (InvalidProtocolBufferException e) {
            send(exchange, 400, "the body is not {\"payloads\": […]}");
        } catch (PayloadCodecException | KeyProblem e) {
            send(exchange, 422, String.valueOf(e.getMessage()));
        } catch (KeyStoreException e) {
            send(exchange, 503, String.valueOf(e.getMessage()));
        }
    }

    private static List<Payload> decoded(PayloadCodec codec, List<Payload> payloads) {
        return payloads.stream().map(payload -> decoded(codec, payload)).toList();
    }

    private static Payload decoded(PayloadCodec codec, Payload payload) {
        try {
            return codec.decode(List.of(payload)).get(0);
        } catch (ThreadForgottenException e) {
            // An object with the field "message" is what readers expect where a failure was encoded.
            return PayloadJson.dataConverter()
                    .toPayload(Map.of("message", String.valueOf(e.getMessage())))
                    .orElseThrow();
        }
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.stop(1);
        threads.shutdownNow();
    }
}
