package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.McpServer;
import dev.waymark.contract.McpNames;
import dev.waymark.worker.inbound.BoundedBuffer;
import dev.waymark.worker.inbound.InputTooLargeException;
import dev.waymark.worker.inbound.MemoryBudget;
import dev.waymark.worker.inbound.MemoryShortException;
import dev.waymark.worker.inbound.ServerSentEvents;
import dev.waymark.worker.outbound.HeaderSecret;
import dev.waymark.worker.outbound.SentOnce;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.tool.kind.Effect;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import okhttp3.Call;
import okhttp3.ConnectionPool;
import okhttp3.Headers;
import okhttp3.HttpUrl;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server with a URL, over streamable HTTP. Each request is sent once, over a new connection: a reused connection may
 * be closing, and then it would be unknown whether the request arrived. Redirects are followed only to the same scheme,
 * host and port.
 */
final class McpHttpChannel implements McpChannel {
    private static final Logger LOG = LoggerFactory.getLogger(McpHttpChannel.class);
    private static final String SESSION = "Mcp-Session-Id";
    private static final String AUTHORIZATION = "Authorization";
    private static final String TOKEN_REFUSED = ". The token was refused. The next call gets a new one";
    private static final String NO_TOKEN = ". The server wants a token: add token to its entry in the agent file";
    private static final int MOST_REDIRECTS = 3;
    private static final int LONGEST_WORDS = 300;
    private static final int MOST_ERROR_BYTES = 64 * 1024;
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    /**
     * The maximum number of concurrent replies to a server's requests. Servers usually wait for a reply before the next
     * request.
     */
    private static final int MOST_REPLIES = 2;

    /** Time limit for messages that expect no answer. */
    private static final Duration LONGEST_NOTIFICATION = Duration.ofSeconds(10);

    /** Large, since a server may send progress before its answer. */
    private static final long MOST_STREAM_BYTES = 256 * 1024 * 1024;

    static final OkHttpClient CLIENT = client();

    private final String name;
    private final Secrets secrets;
    private final Headers headers;
    private final Optional<HeaderSecret> token;
    private final AtomicLong ids = new AtomicLong();
    private final Semaphore replies = new Semaphore(MOST_REPLIES);
    private volatile HttpUrl url;
    private volatile Optional<String> session = Optional.empty();
    private volatile Optional<String> version = Optional.empty();
    private volatile boolean open = true;

    private McpHttpChannel(String name, HttpUrl url, Headers headers, Secrets secrets, Optional<HeaderSecret> token) {
        this.name = name;
        this.url = url;
        this.headers = headers;
        this.secrets = secrets;
        this.token = token;
    }

    /** Does not connect yet. */
    static McpHttpChannel to(McpServer server, Secrets secrets, Optional<HeaderSecret> token)
            throws RequestNotSentException {
        Headers.Builder headers = new Headers.Builder();
        try {
            server.headers().forEach((name, text) -> headers.add(name, secrets.resolveInLine(text)));
        } catch (IllegalArgumentException e) {
            // OkHttp's message would quote the value.
            throw new RequestNotSentException("a header holds characters that it can't have");
        }
        return new McpHttpChannel(
                server.name(), HttpUrl.get(server.url().orElseThrow()), headers.build(), secrets, token);
    }

    private static OkHttpClient client() {
        return SentOnce.client("mcp-http")
                .connectionPool(new ConnectionPool(0, 1, TimeUnit.MILLISECONDS))
                // The thread that waits for the response enforces the timeout.
                .readTimeout(Duration.ZERO)
                .build();
    }

    @Override
    public RpcAnswer ask(RpcRequest request, ProcessFence fence)
            throws RequestNotSentException, OutcomeUnknownException, InterruptedException {
        if (!open) {
            throw new RequestNotSentException("its session has ended");
        }
        long id = ids.incrementAndGet();
        byte[] body = JsonRpc.bytes(JsonRpc.request(id, request.method(), request.params()));
        int redirects = 0;
        boolean again = !request.once();
        while (true) {
            Optional<String> bearer = bearer(fence);
            Exchange exchange = new Exchange(id, request.isStateless(), bearer);
            Call call = CLIENT.newCall(http(request, bearer)
                    .tag(SentOnce.Mark.class, exchange.mark)
                    .post(SentOnce.body(SentOnce.JSON, body))
                    .build());
            try {
                RpcAnswer answer =
                        SentOnce.answer(call, exchange::read).get(fence.left().toMillis(), TimeUnit.MILLISECONDS);
                if (!exchange.tokenRefused || !again) {
                    return answer;
                }
                again = false;
            } catch (TimeoutException e) {
                String words = "timed out after " + fence.timeout().toSeconds() + "s";
                if (giveUp(call, exchange, "timed out")) {
                    throw new RequestNotSentException(words);
                }
                throw OutcomeUnknownException.late(words);
            } catch (InterruptedException e) {
                giveUp(call, exchange, "cancelled");
                throw e;
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof Moved moved) || redirects == MOST_REDIRECTS) {
                    throw failure(Objects.requireNonNullElse(e.getCause(), e), exchange);
                }
                url = moved.to;
                redirects++;
            }
        }
    }

    private Optional<String> bearer(ProcessFence fence) throws RequestNotSentException, InterruptedException {
        try {
            return token.isPresent() ? Optional.of(token.get().text(fence)) : Optional.empty();
        } catch (HeaderSecret.UnavailableException e) {
            throw new RequestNotSentException(String.valueOf(e.getMessage()));
        }
    }

    private OutcomeUnknownException failure(Throwable cause, Exchange exchange) throws RequestNotSentException {
        String words = hidden().mask(Optional.ofNullable(cause.getMessage())
                .orElse(cause.getClass().getSimpleName()));
        if (!exchange.mark.isSent() || cause instanceof Moved) {
            throw new RequestNotSentException(words);
        }
        return OutcomeUnknownException.cut(words);
    }

    /**
     * Closes the connection. A server with stateless requests needs no further message. Returns whether the request had
     * not been sent.
     */
    private boolean giveUp(Call call, Exchange exchange, String why) {
        boolean here = exchange.mark.giveUp();
        call.cancel();
        if (!exchange.stateless) {
            tell(McpNames.CANCELLED, JsonRpc.cancelled(exchange.id, why));
        }
        return here;
    }

    @Override
    public CompletableFuture<Void> tell(String method, JsonNode params) {
        return say(JsonRpc.notification(method, params));
    }

    /** A server may send requests faster than it reads replies; requests above the limit are not answered. */
    private void reply(JsonNode message) {
        if (!replies.tryAcquire()) {
            LOG.debug("{} asks too much at a time", name);
            return;
        }
        say(message).thenRun(replies::release);
    }

    private CompletableFuture<Void> say(JsonNode message) {
        return send(http().post(SentOnce.body(SentOnce.JSON, JsonRpc.bytes(message)))
                .build());
    }

    private CompletableFuture<Void> send(Request request) {
        Call sent = CLIENT.newCall(request);
        sent.timeout().timeout(LONGEST_NOTIFICATION.toMillis(), TimeUnit.MILLISECONDS);
        return SentOnce.answer(sent, Response::code).handle((status, failure) -> {
            if (failure != null) {
                LOG.debug("{}: a notification was not delivered", name);
            }
            return null;
        });
    }

    @Override
    public void agreed(String protocolVersion) {
        version = Optional.of(protocolVersion);
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean canLapse() {
        return session.isPresent();
    }

    /** Ends the session on the server, if there is one, without waiting long for the answer. */
    @Override
    public void close() {
        if (!open) {
            return;
        }
        open = false;
        if (session.isPresent()) {
            try {
                send(http().delete().build()).get(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException | ExecutionException e) {
                LOG.debug("{}: the request to end its session was not delivered", name);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Request.Builder http(RpcRequest said, Optional<String> bearer) {
        if (said.version().isEmpty()) {
            return http(bearer);
        }
        Request.Builder request = begin(bearer)
                .header(McpNames.VERSION_HEADER, said.version().get())
                .header(McpNames.METHOD_HEADER, said.method());
        said.name().ifPresent(name -> request.header(McpNames.NAME_HEADER, ParameterHeaders.encoded(name)));
        said.headers().forEach(request::header);
        return request;
    }

    /** Begins a message that expects no answer, and therefore does not wait for a new token either. */
    private Request.Builder http() {
        return http(token.flatMap(HeaderSecret::known));
    }

    private Request.Builder http(Optional<String> bearer) {
        Request.Builder request = begin(bearer);
        session.ifPresent(id -> request.header(SESSION, id));
        version.ifPresent(agreed -> request.header(McpNames.VERSION_HEADER, agreed));
        return request;
    }

    private Request.Builder begin(Optional<String> bearer) {
        Request.Builder request =
                new Request.Builder().url(url).headers(headers).header("Accept", "application/json, text/event-stream");
        bearer.ifPresent(text -> request.header(AUTHORIZATION, "Bearer " + text));
        return request;
    }

    /** Masks the secrets of the agent file and the tokens in texts from the server. */
    private Secrets hidden() {
        return token.map(bearer -> secrets.and(bearer.hidden())).orElse(secrets);
    }

    /** A redirect that repeats the request on the same host: 307 or 308. */
    private static final class Moved extends IOException {
        private final HttpUrl to;

        Moved(HttpUrl to) {
            super("too many redirects");
            this.to = to;
        }
    }

    /** A request and its answer. */
    private final class Exchange {
        private final long id;
        private final boolean stateless;
        private final Optional<String> bearer;
        private final SentOnce.Mark mark = new SentOnce.Mark();
        private volatile boolean tokenRefused;

        Exchange(long id, boolean stateless, Optional<String> bearer) {
            this.id = id;
            this.stateless = stateless;
            this.bearer = bearer;
        }

        RpcAnswer read(Response response) throws IOException {
            try (MemoryBudget.Share memory = MemoryBudget.ofThisProcess().open()) {
                return read(response, memory);
            } catch (InputTooLargeException e) {
                return new RpcAnswer.Refusal(TOO_LONG, Effect.UNKNOWN);
            } catch (MemoryShortException e) {
                return new RpcAnswer.Refusal(String.valueOf(e.getMessage()), Effect.UNKNOWN);
            }
        }

        private RpcAnswer read(Response response, MemoryBudget.Share memory) throws IOException {
            if (response.isSuccessful()) {
                Optional.ofNullable(response.header(SESSION))
                        .filter(issued -> !stateless)
                        .ifPresent(issued -> session = Optional.of(issued));
                MediaType type = response.body().contentType();
                InputStream body = response.body().byteStream();
                return type != null && type.subtype().equals("event-stream")
                        ? stream(new ServerSentEvents(body, MOST_STREAM_BYTES, MOST_BYTES, memory))
                        : document(BoundedBuffer.readAll(body, "an answer", MOST_BYTES, memory));
            }
            return refused(response);
        }

        private RpcAnswer document(byte[] body) throws IOException {
            Optional<JsonNode> document = JsonRpc.read(body);
            if (document.isEmpty() && body.length > LARGE_BYTES) {
                return new RpcAnswer.Refusal(UNREADABLE, Effect.UNKNOWN);
            }
            return document.filter(message -> JsonRpc.answers(message, id))
                    .map(message -> JsonRpc.answer(hidden().mask(message)))
                    .orElseThrow(() -> new IOException("its answer is not a JSON-RPC response"));
        }

        private RpcAnswer stream(ServerSentEvents events) throws IOException {
            for (Optional<String> event = events.next(); event.isPresent(); event = events.next()) {
                Optional<RpcAnswer> said = take(event.get());
                if (said.isPresent()) {
                    return said.get();
                }
            }
            throw new IOException("the stream ended without an answer");
        }

        private Optional<RpcAnswer> take(String event) {
            Optional<JsonNode> message = JsonRpc.read(event.getBytes(StandardCharsets.UTF_8));
            if (message.isEmpty() && event.length() > LARGE_BYTES) {
                return Optional.of(new RpcAnswer.Refusal(UNREADABLE, Effect.UNKNOWN));
            }
            Optional<JsonNode> ours = message.filter(said -> JsonRpc.answers(said, id));
            if (ours.isEmpty() && !stateless) {
                message.flatMap(JsonRpc::reply).ifPresent(McpHttpChannel.this::reply);
            }
            return ours.map(said -> JsonRpc.answer(hidden().mask(said)));
        }

        private RpcAnswer refused(Response response) throws IOException {
            int status = response.code();
            String body = response.peekBody(MOST_ERROR_BYTES).string();
            if (status == 307 || status == 308) {
                Optional<HttpUrl> to =
                        Optional.ofNullable(response.header("Location")).map(url::resolve);
                if (to.filter(there -> SentOnce.isSameOrigin(there, url)).isPresent()) {
                    throw new Moved(to.get());
                }
                return new RpcAnswer.Refusal(
                        "HTTP " + status + ": redirects to another host are not followed", Effect.NOT_DONE);
            }
            if (status == 401) {
                bearer.ifPresent(text -> {
                    tokenRefused = true;
                    token.orElseThrow().refused(text);
                });
            }
            // Some servers send 400 where the protocol requires 404.
            boolean unknown = status == 404
                    || (status == 400 && body.toLowerCase(Locale.ROOT).contains("session"));
            if (!stateless && session.isPresent() && unknown) {
                open = false;
            }
            Optional<JsonNode> error = JsonRpc.read(body.getBytes(StandardCharsets.UTF_8))
                    .map(said -> hidden().mask(said).path("error"))
                    .filter(JsonNode::isObject);
            String words = "HTTP " + status + words(error, body) + (status == 401 ? whatToDo() : "");
            Effect effect = Effect.ofHttpStatus(status);
            if (effect == Effect.UNKNOWN) {
                throw new IOException(words);
            }
            return error.map(said -> new RpcAnswer.Refusal(words, effect, said))
                    .orElseGet(() -> new RpcAnswer.Refusal(words, effect));
        }

        private String whatToDo() {
            if (bearer.isPresent()) {
                return TOKEN_REFUSED;
            }
            return headers.get(AUTHORIZATION) == null ? NO_TOKEN : "";
        }

        private String words(Optional<JsonNode> error, String body) {
            String words = hidden().mask(error.map(said -> said.path("message").asText(""))
                            .filter(message -> !message.isEmpty())
                            .orElse(body))
                    .strip();
            return words.isEmpty()
                    ? ""
                    : ": " + (words.length() > LONGEST_WORDS ? words.substring(0, LONGEST_WORDS) + "…" : words);
        }
    }
}
