package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that connect, and then send nothing, or one byte at a time. */
@Tag("full")
@Timeout(120)
class StalledClientsTest {
    private static final String HEALTH = "GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

    @TempDir
    private Path directory;

    private final List<Socket> sockets = new ArrayList<>();

    private Socket open(ApiServer server, String text) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        sockets.add(socket);
        socket.setSoTimeout(30_000);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Sends one byte a second, as long as the server accepts that. */
    private static void trickle(Socket socket) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    socket.getOutputStream().write('x');
                    Thread.sleep(1_000);
                }
            } catch (IOException | InterruptedException e) {
                // The server has closed the connection.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static boolean isClosed(Socket socket) throws IOException {
        try {
            socket.getInputStream().readAllBytes();
            return true;
        } catch (SocketException e) {
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    @Test
    void slowBody_afterExpectContinue_isNotTimedAsAHead() throws Exception {
        try (ServedThreads threads = ServedThreads.inMemory(directory, Map.of())) {
            String body = "{\"agent\":\"assistant\",\"message\":\"Hi\"}";
            Socket socket = open(
                    threads.serve(),
                    "POST /v1/threads HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + ANN
                            + "\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nConnection: close\r\n"
                            + "Content-Length: " + body.length() + "\r\n\r\n");
            for (String piece : List.of(body.substring(0, 5), body.substring(5, 9), body.substring(9))) {
                Thread.sleep(piece.length() == 4 ? 12_000 : 3_000);
                socket.getOutputStream().write(piece.getBytes(StandardCharsets.US_ASCII));
            }
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .startsWith("HTTP/1.1 100")
                    .contains("HTTP/1.1 201");
            socket.close();
        }
    }

    @Test
    void stalledHeads_onNewAndReusedConnections_areClosed() throws Exception {
        try (ServedThreads threads = ServedThreads.inMemory(directory, Map.of())) {
            ApiServer server = threads.serve();
            HttpCaller ann = HttpCaller.of(server, ANN);
            String thread = ann.start("asker", "Book");
            List<Socket> stalled = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                stalled.add(open(server, ""));
                stalled.add(open(server, "GET /v1/threads HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "));
                stalled.add(open(server, HEALTH + "GET /v1"));
            }
            stalled.forEach(StalledClientsTest::trickle);
            Socket idle = open(server, HEALTH);
            try (EventStreamReader events = EventStreamReader.open(ann, thread, Optional.empty())) {
                long begin = System.nanoTime();
                for (int i = 0; i < 10; i++) {
                    assertThat(ann.get("/v1/threads/" + thread).status()).isEqualTo(200);
                }
                assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(5));

                for (Socket each : stalled) {
                    assertThat(isClosed(each)).isTrue();
                }
                assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(25));

                // Neither an idle connection nor an open stream waits for a head.
                idle.getOutputStream().write(HEALTH.getBytes(StandardCharsets.US_ASCII));
                assertThat(new String(idle.getInputStream().readNBytes(15), StandardCharsets.US_ASCII))
                        .isEqualTo("HTTP/1.1 200 OK");
                ann.post("/v1/threads/" + thread + "/answer", "{'callId':'tu_1','answer':'Friday'}");
                events.until(all -> all.stream().anyMatch(event -> event.name().equals("human-answered")));
            }
        } finally {
            for (Socket each : sockets) {
                each.close();
            }
        }
    }
}
