package dev.waymark.worker.tool.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.Endpoint;
import dev.waymark.agent.Endpoint.Method;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.inbound.InlineText;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.EffectKeys;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpRunnerTest {
    private static final ProcessFence LONG = ProcessFence.in(Duration.ofMinutes(2));
    private static final EffectKeys KEY = new EffectKeys(Optional.of("k1"), OptionalLong.of(3));
    private static final Map<String, String> ENVIRONMENT =
            Map.of("TOKEN", "canary-7f\"3/a\n", "BASE", "http://127.0.0.1:1/base");

    private final HttpRunner runner = new HttpRunner(ENVIRONMENT);
    private final List<AutoCloseable> open = new ArrayList<>(List.of(runner));

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : open) {
            resource.close();
        }
    }

    private RecordingServer server(RecordingServer.Handler handler) {
        RecordingServer server = RecordingServer.with(handler);
        open.add(server);
        return server;
    }

    private static Endpoint endpoint(Method method, String url) {
        return Endpoint.of(method, url).allowingPrivate();
    }

    private HttpResult run(Endpoint endpoint, Map<String, ?> args) throws InterruptedException {
        return runner.run(endpoint, Json.of(args), KEY, LONG);
    }

    // ---- what is sent

    @Test
    void post_sendsOtherArgumentsAsJsonWithTheKey() throws Exception {
        RecordingServer server = server((exchange, request) -> RecordingServer.send(exchange, 201, "made"));

        HttpResult result = run(
                endpoint(Method.POST, server.url("/issues/{id}?q={q}")).withHeader("X-Team", "red"),
                Map.of("id", 7, "q", "a b", "words", "é", "list", List.of(1)));

        assertThat(result).isEqualTo(new HttpResult.Answered(201, "made"));
        RecordingServer.Request request = server.requests().get(0);
        assertThat(request.method()).isEqualTo("POST");
        assertThat(request.target()).isEqualTo("/issues/7?q=a%20b");
        assertThat(Json.of(PayloadJson.MAPPER.readValue(request.body(), Map.class)))
                .isEqualTo(Json.of(Map.of("words", "é", "list", List.of(1))));
        assertThat(request.headers().getFirst("Content-Type")).isEqualTo("application/json");
        assertThat(request.headers().getFirst("Idempotency-Key")).isEqualTo("k1");
        assertThat(request.headers().getFirst("Waymark-Fencing-Token")).isEqualTo("3");
        assertThat(request.headers().getFirst("X-Team")).isEqualTo("red");
    }

    @Test
    void get_sendsOtherArgumentsInTheQuery() throws Exception {
        RecordingServer server = server((exchange, request) -> RecordingServer.send(exchange, 200, "found"));
        Map<String, Object> args = new LinkedHashMap<>();
        args.put("tags", List.of("a&b", 2));
        args.put("none", null);
        args.put("open", true);

        HttpResult result =
                runner.run(endpoint(Method.GET, server.url("/issues?page=1")), Json.of(args), EffectKeys.NONE, LONG);

        assertThat(result).isEqualTo(new HttpResult.Answered(200, "found"));
        RecordingServer.Request request = server.requests().get(0);
        assertThat(request.target()).isEqualTo("/issues?page=1&tags=a%26b&tags=2&open=true");
        assertThat(request.body()).isEmpty();
        assertThat(request.headers()).doesNotContainKeys("Idempotency-key", "Waymark-fencing-token", "Content-type");
    }

    @Test
    void get_withAnObject_isAMisfit() throws Exception {
        Endpoint endpoint = endpoint(Method.DELETE, "http://127.0.0.1/");

        assertThat(runner.misfit(endpoint, Json.of(Map.of("filter", Map.of())))).isPresent();
        assertThat(runner.misfit(endpoint, Json.of(Map.of("filter", List.of(List.of())))))
                .isPresent();
        assertThat(runner.misfit(endpoint, Json.of(Map.of("filter", "x")))).isEmpty();
    }

    @Test
    void contentType_ofTheTool_isSent() throws Exception {
        RecordingServer server = server((exchange, request) -> RecordingServer.send(exchange, 200, ""));

        run(endpoint(Method.PUT, server.url("/")).withHeader("content-type", "application/vnd.api+json"), Map.of());

        assertThat(server.requests().get(0).headers().get("Content-Type")).containsExactly("application/vnd.api+json");
        assertThat(server.requests().get(0).body()).isEqualTo("{}");
    }

    // ---- secrets

    @Test
    void secret_isSentAndMaskedInTheAnswer() throws Exception {
        Endpoint safe = endpoint(Method.POST, "").withHeader("X-Token", "${TOKEN}");
        RecordingServer server = server((exchange, request) -> RecordingServer.send(
                exchange,
                request.target().startsWith("/bad") ? 500 : 200,
                "raw canary-7f\"3/a, json canary-7f\\\"3/a, encoded canary-7f%223%2Fa"));
        Endpoint good = new Endpoint(Method.POST, server.url("/good/${TOKEN}"), safe.headers(), true);
        Endpoint bad = new Endpoint(Method.POST, server.url("/bad"), safe.headers(), true);
        String masked = "raw ${TOKEN}, json ${TOKEN}, encoded ${TOKEN}";

        assertThat(run(good, Map.of())).isEqualTo(new HttpResult.Answered(200, masked));
        assertThat(run(bad, Map.of()).words()).isEqualTo("status 500: " + masked);
        assertThat(server.requests().get(0).headers().getFirst("X-Token")).isEqualTo("canary-7f\"3/a");
        assertThat(server.requests().get(0).target()).contains("canary-7f");
    }

    @Test
    void missingOrInvalidVariable_isNamedWithoutItsValue() throws Exception {
        HttpRunner odd = new HttpRunner(Map.of("TOKEN", "canary\n7"));
        open.add(odd);
        Endpoint endpoint = endpoint(Method.GET, "http://127.0.0.1/").withHeader("X-Token", "${TOKEN}");

        assertThat(odd.run(endpoint, Json.EMPTY_OBJECT, KEY, LONG))
                .isEqualTo(new HttpResult.NotSent("the header X-Token would hold characters that a header can't have"));
        assertThat(odd.run(endpoint.withHeader("X-Other", "${OTHER}"), Json.EMPTY_OBJECT, KEY, LONG))
                .isEqualTo(new HttpResult.NotSent("environment variable OTHER is not set in the worker"));
    }

    // ---- what answers mean

    @Test
    void otherStatus_isNamedInTheAnswer() throws Exception {
        RecordingServer server = server((exchange, request) -> RecordingServer.send(exchange, 404, "x".repeat(10_000)));

        HttpResult result = run(endpoint(Method.GET, server.url("/")), Map.of());

        assertThat(result.words()).startsWith("status 404: xxx").hasSize(4_013);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "POST", "DELETE"})
    void answerRequestingAnotherRequest_isNotFollowed(String method) throws Exception {
        for (int status : List.of(408, 421, 429, 503, 401, 407)) {
            RecordingServer server = server((exchange, request) -> {
                exchange.getResponseHeaders().add("Retry-After", "0");
                exchange.getResponseHeaders().add("WWW-Authenticate", "Basic realm=x");
                exchange.getResponseHeaders().add("Proxy-Authenticate", "Basic realm=x");
                RecordingServer.send(exchange, status, "later");
            });

            assertThat(run(endpoint(Method.valueOf(method), server.url("/")), Map.of()))
                    .isInstanceOf(HttpResult.Answered.class);
            assertThat(server.requests()).as("status %d", status).hasSize(1);
        }
    }

    @Test
    void unreachableServer_isNotSent() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }

        assertThat(run(endpoint(Method.POST, "http://127.0.0.1:" + port + "/"), Map.of()))
                .isEqualTo(new HttpResult.NotSent("no connection"));
    }

    @Test
    void brokenConnection_isLostAndNotRetried() throws Exception {
        AtomicInteger connections = new AtomicInteger();
        int port = raw(socket -> {
            connections.incrementAndGet();
            socket.getInputStream().read(new byte[10]);
        });

        for (Method method : List.of(Method.GET, Method.POST, Method.DELETE)) {
            assertThat(run(endpoint(method, "http://127.0.0.1:" + port + "/"), Map.of()))
                    .isEqualTo(new HttpResult.Lost("the connection was lost before the answer"));
        }
        assertThat(connections).hasValue(3);
    }

    @Test
    void incompleteAnswer_isLostUnlessItsStatusIsAnError() throws Exception {
        int good = raw(socket -> {
            socket.getInputStream().read(new byte[10_000]);
            write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        });
        int bad = raw(socket -> {
            socket.getInputStream().read(new byte[10_000]);
            write(socket, "HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\nhalf");
        });

        assertThat(run(endpoint(Method.GET, "http://127.0.0.1:" + good + "/"), Map.of()))
                .isEqualTo(new HttpResult.Lost("the server answered 200, but the rest of its answer did not arrive"));
        assertThat(run(endpoint(Method.GET, "http://127.0.0.1:" + bad + "/"), Map.of()))
                .isEqualTo(new HttpResult.Answered(500, ""));
    }

    // ---- limits

    @Test
    void largeAnswer_isCut() throws Exception {
        RecordingServer server = server((exchange, request) -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] block = "x".repeat(1024 * 1024).getBytes(StandardCharsets.UTF_8);
            try (OutputStream body = exchange.getResponseBody()) {
                for (int i = 0; i < 64; i++) {
                    body.write(block);
                }
            } catch (IOException e) {
                // The client does not read that much.
            }
        });

        HttpResult.Answered answer = (HttpResult.Answered) run(endpoint(Method.GET, server.url("/")), Map.of());

        assertThat(answer.body())
                .hasSize(InlineText.LIMIT_BYTES)
                .contains("{\"truncated\":true,\"bytes\":" + (HttpRunner.MOST_BYTES + 31) + ",")
                .endsWith("x\n[cut: more than 4194304 bytes]");
    }

    @Test
    void compressedBomb_isCutAtTheLimit() throws Exception {
        RecordingServer server = server((exchange, request) -> {
            exchange.getResponseHeaders().add("Content-Encoding", "gzip");
            exchange.sendResponseHeaders(200, 0);
            try (GZIPOutputStream zip = new GZIPOutputStream(exchange.getResponseBody())) {
                byte[] zeros = new byte[1024 * 1024];
                for (int i = 0; i < 500; i++) {
                    zip.write(zeros);
                }
            } catch (IOException e) {
                // The client does not read that much.
            }
        });

        HttpResult.Answered answer = (HttpResult.Answered) run(endpoint(Method.GET, server.url("/")), Map.of());

        assertThat(answer.body()).endsWith("[cut: more than 4194304 bytes]");
    }

    @Test
    void endlessHeaders_areNotRead() throws Exception {
        int port = raw(socket -> {
            write(socket, "HTTP/1.1 200 OK\r\n");
            for (int i = 0; i < 100_000; i++) {
                write(socket, "X-More: " + "x".repeat(1000) + "\r\n");
            }
        });

        assertThat(run(endpoint(Method.GET, "http://127.0.0.1:" + port + "/"), Map.of()))
                .isInstanceOf(HttpResult.Lost.class);
    }

    @Test
    void slowOrSilentServer_isLostAtTheTimeout() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        open.add(end::countDown);
        int silent = raw(socket -> end.await());
        int dripping = raw(socket -> {
            write(socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
            while (end.getCount() > 0) {
                write(socket, "x");
                end.await(20, TimeUnit.MILLISECONDS);
            }
        });

        for (int port : List.of(silent, dripping)) {
            assertThat(runner.run(
                            endpoint(Method.POST, "http://127.0.0.1:" + port + "/"),
                            Json.EMPTY_OBJECT,
                            KEY,
                            ProcessFence.in(Duration.ofSeconds(1))))
                    .isEqualTo(new HttpResult.Lost("timed out after 1s"));
        }
    }

    @Test
    void serverThatDoesNotAccept_timesOutBeforeItIsSent() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        open.add(end::countDown);
        HttpRunner slow = new HttpRunner(
                Map.of(),
                host -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    return List.of(InetAddress.getLoopbackAddress());
                },
                address -> true);
        open.add(slow);

        assertThat(slow.run(
                        endpoint(Method.POST, "http://slow.example/"),
                        Json.EMPTY_OBJECT,
                        KEY,
                        ProcessFence.in(Duration.ofSeconds(1))))
                .isEqualTo(new HttpResult.NotSent("timed out after 1s, before it was sent"));
    }

    @Test
    void interrupt_cancelsTheRequest() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        int port = raw(socket -> {
            arrived.countDown();
            while (socket.getInputStream().read() >= 0) {
                // Reads until the client closes the connection.
            }
            gone.countDown();
        });
        Thread caller = Thread.currentThread();
        Thread other = new Thread(() -> {
            try {
                arrived.await();
                caller.interrupt();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        other.start();

        assertThatThrownBy(() -> run(endpoint(Method.POST, "http://127.0.0.1:" + port + "/"), Map.of()))
                .isInstanceOf(InterruptedException.class);
        assertThat(gone.await(60, TimeUnit.SECONDS)).isTrue();
    }

    // ---- redirects

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void get_redirectedOnTheSameHost_isFollowed(int status) throws Exception {
        RecordingServer server = server((exchange, request) -> {
            if (request.target().equals("/a")) {
                RecordingServer.redirect(exchange, status, "/b?x=1");
            } else {
                RecordingServer.send(exchange, 200, "there");
            }
        });

        assertThat(run(endpoint(Method.GET, server.url("/a")), Map.of()))
                .isEqualTo(new HttpResult.Answered(200, "there"));
    }

    @ParameterizedTest
    @ValueSource(ints = {307, 308})
    void post_redirectedWith307Or308_isSentThereWithItsKey(int status) throws Exception {
        RecordingServer server = server((exchange, request) -> {
            if (request.target().equals("/a")) {
                RecordingServer.redirect(exchange, status, "/b");
            } else {
                RecordingServer.send(exchange, 200, "there");
            }
        });

        HttpResult result = run(endpoint(Method.POST, server.url("/a")), Map.of("x", 1));

        assertThat(result).isEqualTo(new HttpResult.Answered(200, "there"));
        assertThat(server.requests())
                .extracting(RecordingServer.Request::method, RecordingServer.Request::body)
                .containsExactly(Tuple.tuple("POST", "{\"x\":1}"), Tuple.tuple("POST", "{\"x\":1}"));
        assertThat(server.requests().get(1).headers().getFirst("Idempotency-Key"))
                .isEqualTo("k1");
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302})
    void post_redirectedWith301Or302_isAnswered(int status) throws Exception {
        RecordingServer server = server((exchange, request) -> RecordingServer.redirect(exchange, status, "/b"));

        assertThat(run(endpoint(Method.POST, server.url("/a")), Map.of()).words())
                .isEqualTo("status " + status + ": redirect to /b");
        assertThat(server.requests()).hasSize(1);
    }

    @Test
    void post_redirectedWith303_fetchesTheAnswer() throws Exception {
        RecordingServer server = server((exchange, request) -> {
            if (request.target().equals("/a")) {
                RecordingServer.redirect(exchange, 303, "/b");
            } else {
                RecordingServer.send(exchange, 200, "there");
            }
        });

        assertThat(run(endpoint(Method.POST, server.url("/a")), Map.of("x", 1)))
                .isEqualTo(new HttpResult.Answered(200, "there"));
        RecordingServer.Request second = server.requests().get(1);
        assertThat(second.method() + second.body()).isEqualTo("GET");
        assertThat(second.headers()).doesNotContainKeys("Idempotency-key", "Waymark-fencing-token", "Content-type");
    }

    @Test
    void post_failingTargetOfA303_isUnknown() throws Exception {
        RecordingServer server = server((exchange, request) -> {
            if (request.target().equals("/a")) {
                RecordingServer.redirect(exchange, 303, "/b");
            } else {
                RecordingServer.send(exchange, 404, "not yet");
            }
        });

        assertThat(run(endpoint(Method.POST, server.url("/a")), Map.of("x", 1)))
                .isEqualTo(new HttpResult.Lost(
                        "the server answered 303, and the request to its target failed: status 404: not yet"));
    }

    @Test
    void redirect_toAnotherHost_isNotFollowed() throws Exception {
        RecordingServer other = server((exchange, request) -> RecordingServer.send(exchange, 200, "stolen"));
        for (String location : List.of(
                other.url("/x"),
                "//127.0.0.1:" + other.port() + "/",
                "https://127.0.0.1/",
                "http://localhost:" + other.port() + "/",
                "http://169.254.169.254/latest/meta-data/",
                "http://[::ffff:169.254.169.254]/",
                "file:///etc/passwd",
                "ftp://127.0.0.1/")) {
            RecordingServer server = server((exchange, request) -> RecordingServer.redirect(exchange, 302, location));

            assertThat(run(endpoint(Method.GET, server.url("/")).withHeader("X-Token", "${TOKEN}"), Map.of())
                            .words())
                    .isEqualTo("status 302: redirect to " + location);
        }
        assertThat(other.requests()).isEmpty();
    }

    @Test
    void redirect_endless_stopsAfterFive() throws Exception {
        RecordingServer server = server((exchange, request) -> RecordingServer.redirect(exchange, 307, "/"));

        assertThat(run(endpoint(Method.GET, server.url("/")), Map.of()).words()).isEqualTo("status 307: redirect to /");
        assertThat(server.requests()).hasSize(6);
    }

    // ---- names that change

    @Test
    void hostNameWithChangingAddress_isCheckedEachTime() throws Exception {
        InetAddress allowed = InetAddress.getByName("127.0.0.1");
        InetAddress forbidden = InetAddress.getByName("127.0.0.2");
        RecordingServer server = server((exchange, request) -> {
            if (request.target().equals("/again")) {
                RecordingServer.redirect(exchange, 307, "/next");
            } else {
                RecordingServer.send(exchange, 200, "there");
            }
        });
        AtomicInteger lookups = new AtomicInteger();
        AtomicInteger connections = new AtomicInteger();
        HttpRunner rebound = new HttpRunner(
                Map.of(), host -> List.of(lookups.getAndIncrement() == 0 ? allowed : forbidden), address -> {
                    connections.incrementAndGet();
                    return address.equals(allowed);
                });
        open.add(rebound);
        String url = "http://rebinding.example:" + server.port();

        assertThat(rebound.run(Endpoint.of(Method.GET, url + "/again"), Json.EMPTY_OBJECT, KEY, LONG))
                .isEqualTo(new HttpResult.NotSent(
                        "its address is private, and the tool does not set allow_private: true"));
        assertThat(server.requests())
                .extracting(RecordingServer.Request::target)
                .containsExactly("/again");
        assertThat(lookups).hasValue(2);
        assertThat(connections).hasValue(2);
    }

    // ---- servers that do not speak HTTP

    private interface Behavior {
        void towards(Socket socket) throws Exception;
    }

    /** Starts a server that treats every connection in this way and then closes it. Returns the server's port. */
    private int raw(Behavior behavior) throws IOException {
        ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        open.add(listener);
        Thread thread = new Thread(() -> {
            while (!listener.isClosed()) {
                try (Socket socket = listener.accept()) {
                    behavior.towards(socket);
                } catch (Exception e) {
                    // The client has closed the connection.
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return listener.getLocalPort();
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }
}
