package dev.waymark.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(180)
class HttpServiceTest {
    private static final String HEAD = "POST /echo HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\n";

    private static final int THREADS = 8;
    private static final byte[] LARGE_REPLY = new byte[30_000_000];
    private static final Duration TIME = Duration.ofSeconds(30);

    private static final String LARGE = "GET /large HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\n\r\n";

    private final CountDownLatch began = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final List<Socket> sockets = new ArrayList<>();
    private HttpListener server;

    /** Echoes the body to callers that identify themselves. */
    private final class Echo implements HttpService {
        @Override
        public Optional<HttpReply> refusal(HttpService.Received head) {
            return head.header("authorization").isPresent()
                    ? Optional.empty()
                    : Optional.of(HttpReply.text(401, "who is there?"));
        }

        @Override
        public int maxBodyBytes(HttpService.Received head) {
            return 1_000_000;
        }

        @Override
        public HttpReply answer(HttpService.Received request) {
            if (request.path().equals("/fails")) {
                throw new IllegalStateException("secret");
            }
            if (request.path().equals("/waits")) {
                began.countDown();
                await(goOn);
            }
            return new HttpReply(200, "", request.path().equals("/large") ? LARGE_REPLY : request.body(), Map.of());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @BeforeEach
    void start() throws IOException {
        server = HttpListener.start("127.0.0.1", 0, "echo", new Echo());
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket each : sockets) {
            each.close();
        }
        server.close();
    }

    private Socket open(String text) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        sockets.add(socket);
        socket.setSoTimeout(40_000);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return socket;
    }

    private static List<Socket> answered(List<Socket> open) throws IOException {
        List<Socket> answered = new ArrayList<>();
        for (Socket each : open) {
            if (each.getInputStream().available() > 0) {
                answered.add(each);
            }
        }
        return answered;
    }

    /** Sends this ten times a second, as long as the server accepts it. */
    private static void trickle(Socket socket, String bytes) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
                    Thread.sleep(100);
                }
            } catch (IOException | InterruptedException e) {
                // The server has closed the connection.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static String rest(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    private HttpResponse<String> post(String path, String body) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                                .version(HttpClient.Version.HTTP_1_1)
                                .timeout(Duration.ofSeconds(5))
                                .header("Authorization", "me")
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void stalledConnections_areClosedWithoutDelayingOthers() throws Exception {
        startWith(new HttpLimits(THREADS, 1_000, Duration.ofSeconds(2), TIME, TIME, 1_000_000));
        List<Socket> stalled = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            stalled.add(open(""));
            stalled.add(open("P"));
            stalled.add(open(HEAD));
            open(HEAD + "Content-Length: 100000\r\n\r\nx");
        }

        for (int i = 0; i < 20; i++) {
            assertThat(post("/echo", "hello " + i).body()).isEqualTo("hello " + i);
        }

        // There were more connections than allowed, so the oldest ones are closed at once, and the others when time is
        // up.
        for (Socket each : stalled) {
            assertThat(each.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void trickledHead_stillTimesOut() throws Exception {
        startWith(new HttpLimits(THREADS, 1_000, Duration.ofSeconds(2), TIME, TIME, 1_000_000));
        Socket socket = open("POST /");
        long begin = System.nanoTime();
        trickle(socket, "x");

        assertThat(socket.getInputStream().read()).isEqualTo(-1);
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofSeconds(1), TIME.minusSeconds(5));
    }

    @Test
    void unreadReplies_doNotDelayOthers() throws Exception {
        String body = "x".repeat(1_000_000);
        for (int i = 0; i < 20; i++) {
            open(HEAD + "Content-Length: 1000000\r\n\r\n" + body);
        }

        assertThat(post("/echo", body).body()).isEqualTo(body);
    }

    @Test
    void refusal_isSentBeforeTheBodyIsRead() throws Exception {
        Socket socket = open("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");

        assertThat(rest(socket)).startsWith("HTTP/1.1 401 Unauthorized\r\n").endsWith("who is there?\n");
    }

    @Test
    void request_sentInPieces_isReassembled() throws Exception {
        Socket socket = open("");
        for (char each : (HEAD + "Content-Length: 5\r\n\r\nhello").toCharArray()) {
            socket.getOutputStream().write(each);
            socket.getOutputStream().flush();
        }

        assertThat(rest(socket)).startsWith("HTTP/1.1 200 OK\r\n").endsWith("\r\n\r\nhello");
    }

    @Test
    void clientThatExpectsContinue_isToldToSendItsBody() throws Exception {
        Socket socket = open(HEAD + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
        String go = "HTTP/1.1 100 Continue\r\n\r\n";
        assertThat(new String(socket.getInputStream().readNBytes(go.length()), StandardCharsets.ISO_8859_1))
                .isEqualTo(go);

        socket.getOutputStream().write("hello".getBytes(StandardCharsets.ISO_8859_1));

        assertThat(rest(socket)).startsWith("HTTP/1.1 200 OK\r\n").endsWith("\r\n\r\nhello");
    }

    @Test
    void internalFailure_isNotDescribedToTheCaller() throws Exception {
        HttpResponse<String> response = post("/fails", "");

        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).doesNotContain("secret");
    }

    @Test
    void headRequest_hasContentLengthButNoBody() throws Exception {
        Socket socket = open("HEAD /echo HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\nContent-Length: 5\r\n\r\nhello");

        assertThat(rest(socket)).contains("Content-Length: 5\r\n").endsWith("\r\n\r\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            426 | GET / HTTP/2.0
            400 | GET
            400 | GET http://x/ HTTP/1.1
            400 | GET / HTTP/1.1~Host: x~ folded: header
            400 | GET / HTTP/1.1~Host: x~no colon
            400 | GET / HTTP/1.1~Host: x~Authorization: me^Authorization: you
            400 | GET / HTTP/1.1~Host: x~Authorization: me~Authorization: you
            400 | GET / HTTP/1.1~Host: x~Authorization: me~Content-Length: -1
            400 | GET / HTTP/1.1~Host: x~Authorization: me~Content-Length: 1~Content-Length: 2
            411 | GET / HTTP/1.1~Host: x~Authorization: me~Transfer-Encoding: chunked
            413 | GET / HTTP/1.1~Host: x~Authorization: me~Content-Length: 1000001
            413 | GET / HTTP/1.1~Host: x~Authorization: me~Content-Length: 99999999999999999
            """)
    void malformedRequest_isRefused(int status, String head) throws Exception {
        assertThat(rest(open(head.replace("~", "\r\n").replace("^", "\n") + "\r\n\r\n")))
                .startsWith("HTTP/1.1 " + status + " ");
    }

    @Test
    void portInUse_throwsBindException() {
        assertThatThrownBy(() -> HttpListener.start("127.0.0.1", server.port(), "echo", new Echo()))
                .isInstanceOf(BindException.class);
    }

    @Test
    void endlessHead_isRefused() throws Exception {
        assertThat(rest(open("GET / HTTP/1.1\r\nX: " + "x".repeat(17_000)))).startsWith("HTTP/1.1 431 ");
    }

    private void startWithRoomFor(long largeBytes) throws IOException {
        startWith(new HttpLimits(THREADS, 1_000, TIME, TIME, TIME, largeBytes));
    }

    private void startWith(HttpLimits limits) throws IOException {
        server.close();
        server = HttpListener.start("127.0.0.1", 0, "echo", limits, Optional.empty(), new ServiceExchange(new Echo()));
    }

    private List<Socket> stalledBodies(int count) throws IOException {
        List<Socket> stalled = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            stalled.add(open(HEAD + "Content-Length: 100000\r\n\r\nx"));
        }
        return stalled;
    }

    private static int closed(List<Socket> all) throws IOException {
        int closed = 0;
        for (Socket each : all) {
            each.setSoTimeout(100);
            try {
                each.getInputStream().read();
                closed++;
            } catch (SocketException e) {
                closed++;
            } catch (SocketTimeoutException e) {
                continue;
            }
        }
        return closed;
    }

    @Test
    void trickledBody_stillTimesOut() throws Exception {
        startWith(new HttpLimits(THREADS, 1_000, TIME, Duration.ofSeconds(2), TIME, 1_000_000));
        Socket socket = open(HEAD + "Content-Length: 1000000\r\n\r\n");
        long begin = System.nanoTime();
        trickle(socket, "x".repeat(1_000));

        assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.ISO_8859_1))
                .isEqualTo("HTTP/1.1 408");
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofSeconds(1), TIME.minusSeconds(5));
    }

    @Test
    void trickledRead_stillTimesOut() throws Exception {
        startWith(new HttpLimits(THREADS, 1_000, TIME, TIME, Duration.ofSeconds(2), 1_000_000));
        Socket socket = open(LARGE);
        long begin = System.nanoTime();
        long read = 0;
        while (System.nanoTime() - begin < Duration.ofSeconds(4).toNanos()) {
            read += socket.getInputStream().readNBytes(1_000).length;
            Thread.sleep(10);
        }

        assertThat(read + socket.getInputStream().readAllBytes().length).isLessThan(LARGE_REPLY.length);
    }

    @Test
    void tooManyConnections_oldestUnansweredIsClosed() throws Exception {
        startWith(new HttpLimits(THREADS, 20, TIME, TIME, TIME, 1_000_000));
        Socket answering = open("GET /waits HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\n\r\n");
        assertThat(began.await(10, TimeUnit.SECONDS)).isTrue();
        List<Socket> old = stalledBodies(10);
        assertThat(post("/echo", "hello").body()).isEqualTo("hello");
        List<Socket> more = stalledBodies(15);
        assertThat(post("/echo", "hello").body()).isEqualTo("hello");

        assertThat(closed(old)).isEqualTo(7);
        assertThat(closed(more)).isZero();
        goOn.countDown();
        assertThat(rest(answering)).startsWith("HTTP/1.1 200 OK\r\n");
    }

    @Test
    void stalledLargeBodies_shareAMemoryLimit_andSmallRequestsAreServed() throws Exception {
        startWithRoomFor(2_500_000);
        List<Socket> stalled = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            stalled.add(open(HEAD + "Content-Length: 1000000\r\n\r\n" + "x".repeat(900_000)));
        }

        assertThat(post("/echo", "hello").body()).isEqualTo("hello");
        assertThat(post("/echo", "y".repeat(200_000)).body()).hasSize(200_000);
        // The bodies do not arrive in the order in which they were sent.
        while (answered(stalled).size() < 8) {
            Thread.sleep(10);
        }
        for (Socket given : answered(stalled)) {
            stalled.remove(given);
            assertThat(rest(given)).startsWith("HTTP/1.1 503 ").contains("Send the request again");
        }
        assertThat(stalled).hasSize(2);
        for (Socket kept : stalled) {
            kept.getOutputStream().write("x".repeat(100_000).getBytes(StandardCharsets.ISO_8859_1));
            assertThat(rest(kept)).startsWith("HTTP/1.1 200 ").endsWith("x");
        }
    }

    @Test
    void singleLargeBody_isAcceptedBeyondTheMemoryLimit() throws Exception {
        startWithRoomFor(1);

        assertThat(post("/echo", "y".repeat(900_000)).body()).hasSize(900_000);
    }

    @Test
    void unreadLargeReplies_shareAMemoryLimitWithoutDelayingOthers() throws Exception {
        startWithRoomFor(2_500_000);
        for (int i = 0; i < 40; i++) {
            Socket deaf = new Socket();
            sockets.add(deaf);
            deaf.setReceiveBufferSize(4_096);
            deaf.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
            deaf.getOutputStream()
                    .write((HEAD + "Content-Length: 1000000\r\n\r\n" + "x".repeat(1_000_000))
                            .getBytes(StandardCharsets.ISO_8859_1));
        }

        for (int i = 0; i < 20; i++) {
            assertThat(post("/echo", "y".repeat(300_000)).body()).hasSize(300_000);
        }
    }

    @Test
    void largeReplies_beyondTheMemoryLimit_areCutOffExceptOne() throws Exception {
        startWithRoomFor(2_500_000);
        List<Socket> slow = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            slow.add(open(LARGE));
            slow.get(i).getInputStream().read();
        }

        List<Socket> complete = new ArrayList<>();
        for (Socket each : slow) {
            if (bytes(each) > LARGE_REPLY.length) {
                complete.add(each);
            }
        }
        assertThat(complete).containsExactly(slow.get(2));
    }

    private static long bytes(Socket socket) throws IOException {
        long read = 0;
        try {
            for (byte[] some = socket.getInputStream().readNBytes(100_000);
                    some.length > 0;
                    some = socket.getInputStream().readNBytes(100_000)) {
                read += some.length;
            }
        } catch (SocketException e) {
            return read;
        }
        return read;
    }
}
