package dev.waymark.server;

import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** More large requests at a time than an instance has memory for. */
@Tag("full")
class LargeBodiesTest {
    private static final int BYTES = 15_000_000;
    private static final String IMPORT =
            "{'agent':'asker','checkpoint':[{'role':'user','content':'Hi'}]}" + " ".repeat(BYTES);

    @TempDir
    private Path directory;

    /** Simple clients send everything before they read. */
    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 52428800", "Connection: close\r\nTransfer-Encoding: chunked"})
    void oversizedBody_clientThatSendsAllOfIt_receivesTheRefusal(String length) throws Exception {
        byte[] part = new byte[1024 * 1024];
        try (ServedThreads threads = ServedThreads.inMemory(directory, Map.of());
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), threads.serve().port())) {
            OutputStream out = socket.getOutputStream();
            out.write(ascii("POST /v1/threads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + OPERATOR
                    + "\r\nContent-Type: application/json\r\n" + length + "\r\n\r\n"));
            boolean isChunked = length.endsWith("chunked");
            for (int i = 0; i < 50; i++) {
                out.write(ascii(isChunked ? "100000\r\n" : ""));
                out.write(part);
                out.write(ascii(isChunked ? "\r\n" : ""));
            }
            out.write(ascii(isChunked ? "0\r\n\r\n" : ""));

            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 413")
                    .contains("Connection: close", "\"TooLarge\"");
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void stalledImports_beyondTheMemoryBudget_areRefusedWithoutDelayingOthers() throws Exception {
        byte[] most = ascii(" ".repeat(BYTES - 1_000));
        List<Socket> stalled = new ArrayList<>();
        try (ServedThreads threads = ServedThreads.inMemory(directory, Map.of())) {
            ApiServer server = threads.serve();
            HttpCaller operator = HttpCaller.of(server, OPERATOR);
            for (long sent = 0; sent <= Runtime.getRuntime().maxMemory() / 32; sent += most.length) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
                stalled.add(socket);
                socket.getOutputStream()
                        .write(ascii("POST /v1/imports HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + OPERATOR
                                + "\r\nContent-Type: application/json\r\nContent-Length: " + BYTES + "\r\n\r\n"));
                socket.getOutputStream().write(most);
            }

            await().atMost(Duration.ofMinutes(1)).until(() -> !answered(stalled).isEmpty());
            assertThat(answered(stalled)).hasSize(1).allSatisfy(each -> {
                assertThat(new String(each.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                        .startsWith("HTTP/1.1 503")
                        .contains("\"TooBusy\"", "Retry-After: 2");
            });
            operator.start("assistant", "Hi");
            for (Socket each : stalled) {
                each.close();
            }
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(operator.post("/v1/imports", IMPORT, "key-1")
                                    .status())
                            .isEqualTo(201));
        }
    }

    private static List<Socket> answered(List<Socket> sockets) throws IOException {
        List<Socket> answered = new ArrayList<>();
        for (Socket each : sockets) {
            if (each.getInputStream().available() > 0) {
                answered.add(each);
            }
        }
        return answered;
    }
}
