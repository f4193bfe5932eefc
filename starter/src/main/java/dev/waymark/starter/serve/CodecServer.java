package dev.waymark.starter.serve;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import dev.waymark.codec.EncryptionCodec;
import dev.waymark.codec.EncryptionKeys;
import dev.waymark.codec.KeyProblem;
import dev.waymark.codec.KeyStoreException;
import dev.waymark.codec.ThreadForgottenException;
import dev.waymark.codec.ThreadKeys;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.HttpListener;
import dev.waymark.server.http.HttpReply;
import dev.waymark.server.http.HttpService;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.Payloads;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * Answers {@code POST /decode} and {@code POST /encode} of Temporal's remote codec protocol. Every request needs the
 * bearer token, or the cookie of a browser that signed in with it. Only one origin may send requests from a browser.
 * Payloads encoded here are bound to their namespace but not to a thread, which the protocol does not name.
 *
 * <p>The answer replaces each payload of a forgotten thread with a message. An error response would hide the other
 * payloads of the request. Also, the Web UI and the CLI do not show the text of an error, and the CLI retries until its
 * command fails.
 */
public final class CodecServer implements AutoCloseable {
    private static final int MAX_BODY_BYTES = 16 * 1024 * 1024;

    private final EncryptionKeys keys;
    private final Optional<ThreadKeys> threadKeys;
    private final CodecAccess access;
    private final Optional<String> origin;
    private final HttpListener server;

    private CodecServer(
            String host,
            int port,
            EncryptionKeys keys,
            Optional<ThreadKeys> threadKeys,
            String token,
            Optional<String> origin)
            throws IOException {
        this.keys = keys;
        this.threadKeys = threadKeys;
        this.access = new CodecAccess(token);
        this.origin = origin;
        this.server = HttpListener.start(host, port, "waymark-codec", new Service());
    }

    /**
     * Starts the server.
     *
     * @param origin the origin of the Web UI, such as {@code http://127.0.0.1:8233}; empty to reject browsers
     */
    public static CodecServer start(
            String host,
            int port,
            EncryptionKeys keys,
            Optional<ThreadKeys> threadKeys,
            String token,
            Optional<String> origin)
            throws IOException {
        return new CodecServer(host, port, keys, threadKeys, token, origin);
    }

    public int port() {
        return server.port();
    }

    private static Optional<BiFunction<PayloadCodec, List<Payload>, List<Payload>>> operation(
            HttpService.Received head) {
        return switch (head.path()) {
            case "/decode" -> Optional.of(CodecServer::decoded);
            case "/encode" -> Optional.of(PayloadCodec::encode);
            default -> Optional.empty();
        };
    }

    private final class Service implements HttpService {
        @Override
        public Optional<HttpReply> refusal(HttpService.Received head) {
            return operation(head).isPresent()
                    ? refused(head).map(reply -> reply.withHeaders(originHeaders(head)))
                    : Optional.empty();
        }

        @Override
        public int maxBodyBytes(HttpService.Received head) {
            return operation(head).isPresent() ? MAX_BODY_BYTES : CodecAccess.MAX_FORM_BYTES;
        }

        @Override
        public HttpReply answer(HttpService.Received request) {
            return operation(request)
                    .map(known -> transform(request, known).withHeaders(originHeaders(request)))
                    .orElseGet(() -> access.signIn(request));
        }
    }

    private Optional<HttpReply> refused(HttpService.Received head) {
        if (isForeign(head)) {
            return Optional.of(HttpReply.text(403, "this origin is not allowed"));
        }
        if (head.method().equals("OPTIONS")) {
            return Optional.of(HttpReply.empty(204));
        }
        if (!access.isAllowed(head)) {
            return Optional.of(HttpReply.text(401, "a valid bearer token is required; browsers sign in at /")
                    .withHeader("WWW-Authenticate", "Bearer"));
        }
        return head.method().equals("POST")
                ? Optional.empty()
                : Optional.of(HttpReply.text(405, "only POST is supported"));
    }

    private boolean isForeign(HttpService.Received head) {
        return head.header("Origin").isPresent() && !head.header("Origin").equals(origin);
    }

    private Map<String, String> originHeaders(HttpService.Received head) {
        if (isForeign(head)) {
            return Map.of();
        }
        return head.header("Origin")
                .map(allowed -> Map.of(
                        "Vary", "Origin",
                        "Access-Control-Allow-Origin", allowed,
                        "Access-Control-Allow-Methods", "POST, OPTIONS",
                        "Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace",
                        "Access-Control-Allow-Credentials", "true"))
                .orElse(Map.of("Vary", "Origin"));
    }

    private HttpReply transform(
            HttpService.Received request, BiFunction<PayloadCodec, List<Payload>, List<Payload>> operation) {
        // Temporal's CLI sends an empty header unless it was called with --namespace.
        String namespace =
                request.header("X-Namespace").filter(name -> !name.isBlank()).orElse("default");
        try {
            Payloads.Builder given = Payloads.newBuilder();
            JsonFormat.parser()
                    .ignoringUnknownFields()
                    .merge(new String(request.body(), StandardCharsets.UTF_8), given);
            List<Payload> done =
                    operation.apply(new EncryptionCodec(keys, threadKeys, namespace), given.getPayloadsList());
            String json = JsonFormat.printer()
                    .omittingInsignificantWhitespace()
                    .print(Payloads.newBuilder().addAllPayloads(done));
            return HttpReply.text(200, "application/json", json);
        } catch (InvalidProtocolBufferException e) {
            return HttpReply.text(400, "the body is not {\"payloads\": […]}");
        } catch (PayloadCodecException | KeyProblem e) {
            return HttpReply.text(422, String.valueOf(e.getMessage()));
        } catch (KeyStoreException e) {
            return HttpReply.text(503, String.valueOf(e.getMessage()));
        }
    }

    private static List<Payload> decoded(PayloadCodec codec, List<Payload> payloads) {
        return payloads.stream().map(payload -> decoded(codec, payload)).toList();
    }

    private static Payload decoded(PayloadCodec codec, Payload payload) {
        try {
            return codec.decode(List.of(payload)).get(0);
        } catch (ThreadForgottenException e) {
            // Where a failure was encoded, readers expect an object with the field "message".
            return PayloadJson.dataConverter()
                    .toPayload(Map.of("message", String.valueOf(e.getMessage())))
                    .orElseThrow();
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
