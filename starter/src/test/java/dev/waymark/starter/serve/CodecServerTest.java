package dev.waymark.starter.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.codec.EncryptionKeys;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class CodecServerTest {
    private static final String KEYS = "one:" + Base64.getEncoder().encodeToString(new byte[32]);
    private static final String HEAD = "POST /decode HTTP/1.1\r\nHost: x\r\n";

    private static HttpResponse<String> decode(CodecServer server, String token) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/decode"))
                                .timeout(Duration.ofSeconds(9))
                                .header("Authorization", "Bearer " + token)
                                .POST(HttpRequest.BodyPublishers.ofString("{\"payloads\":[]}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void stalledConnections_beforeAndAfterTheToken_doNotDelayOthers() throws Exception {
        EncryptionKeys keys =
                EncryptionKeys.of(Map.of(EncryptionKeys.VARIABLE, KEYS)).orElseThrow();
        List<Socket> stalled = new ArrayList<>();
        try (CodecServer server =
                CodecServer.start("127.0.0.1", 0, keys, Optional.empty(), "token-1", Optional.empty())) {
            for (int i = 0; i < 200; i++) {
                for (String text : List.of(
                        "",
                        "P",
                        HEAD,
                        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\ntoken=",
                        HEAD + "Authorization: Bearer token-1\r\nContent-Length: 100000\r\n\r\n{")) {
                    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
                    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
                    stalled.add(socket);
                }
                assertThat(decode(server, "token-1").statusCode()).isEqualTo(200);
            }
            assertThat(decode(server, "token-2").statusCode()).isEqualTo(401);
        } finally {
            for (Socket each : stalled) {
                each.close();
            }
        }
    }
}
