package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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

/** More large requests at a time than an instance has memory for. */
@Tag("full")
class LargeBodiesTest {
    private static final int BYTES = 15_000_000;
    private static final String IMPORT =
            "{'agent':'asker','checkpoint':[{'role':'user','content':'Hi'}]}" + " ".repeat(BYTES);

    @TempDir
    private Path directory;

    @Test
    void imports_beyondTheBudget_areRefusedUntilOthersEnd_andSmallRequestsAreServed() throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try (ServedThreads threads = ServedThreads.inMemory(directory, Map.of())) {
            ApiServer server = threads.serve();
            HttpCaller ann = HttpCaller.of(server, ANN);
            assertThat(ann.post("/v1/imports", IMPORT, "key-1").status()).isEqualTo(201);
            for (long taken = 0; taken <= Runtime.getRuntime().maxMemory() / 32; taken += BYTES) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
                sockets.add(socket);
                socket.getOutputStream()
                        .write(("POST /v1/imports HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + ANN
                                        + "\r\nContent-Type: application/json\r\nContent-Length: " + BYTES
                                        + "\r\n\r\n{")
                                .getBytes(StandardCharsets.US_ASCII));
            }

            await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
                HttpCaller.Answer busy = ann.post("/v1/imports", IMPORT, "key-2");
                assertThat(busy.status() + " " + busy.text("code")).isEqualTo("503 TooBusy");
                assertThat(busy.response().headers().firstValue("Retry-After")).hasValue("2");
            });
            ann.start("assistant", "Hi");

            for (Socket each : sockets) {
                each.close();
            }
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(
                                    ann.post("/v1/imports", IMPORT, "key-3").status())
                            .isEqualTo(201));
        }
    }
}
