package dev.waymark.server;

import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
    @ValueSource(strings = {"Content-Length: 52428800", "Transfer-Encoding: chunked"})
    void bodyThatIsTooLarge_isRefused_andAClientThatSendsItAllSeesThat(String length) throws Exception {
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
    void imports_beyondTheBudget_areRefusedUntilOthersEnd_andSmallRequestsAreServed() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try (ServedThreads threads = ServedThreads.inMemory(directory, Map.of())) {
            ApiServer server = threads.serve();
            HttpCaller operator = HttpCaller.of(server, OPERATOR);
            assertThat(operator.post("/v1/imports", IMPORT, "key-1").status()).isEqualTo(201);
            for (long taken = 0; taken <= Runtime.getRuntime().maxMemory() / 32; taken += BYTES) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
                sockets.add(socket);
                socket.getOutputStream()
                        .write(("POST /v1/imports HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + OPERATOR
                                        + "\r\nContent-Type: application/json\r\nContent-Length: " + BYTES
                                        + "\r\n\r\n{")
                                .getBytes(StandardCharsets.US_ASCII));
            }

            await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
                HttpCaller.Answer busy = operator.post("/v1/imports", IMPORT, "key-2");
                assertThat(busy.status() + " " + busy.text("code")).isEqualTo("503 TooBusy");
                assertThat(busy.response().headers().firstValue("Retry-After")).hasValue("2");
            });
            operator.start("assistant", "Hi");

            for (Socket each : sockets) {
                each.close();
            }
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(operator.post("/v1/imports", IMPORT, "key-3")
                                    .status())
                            .isEqualTo(201));
        }
    }
}
