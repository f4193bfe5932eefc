package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.BOB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.http.HttpSettings;
import dev.waymark.worker.server.InMemoryServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ann floods {@code /mcp} and is refused; Bob is served meanwhile. Both have the default limits. */
@Tag("full")
@Timeout(180)
class McpFloodTest {
    @TempDir
    private static Path directory;

    private static ServedThreads threads;
    private static McpCaller ann;
    private static McpCaller bob;
    /** The longest that Bob may wait, measured against his wait without a flood, because machines differ. */
    private static Duration most;

    @BeforeAll
    static void start() throws Exception {
        threads = ServedThreads.inMemory(directory, Map.of("prompted", new PromptedModel()));
        ann = McpCaller.withTasks(HttpCaller.of(threads.serve(HttpSettings.at("127.0.0.1", 0)), ANN));
        bob = ann.as(BOB);
        serve(bob);
        most = serve(bob).multipliedBy(10).plusSeconds(4);
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    /** What an answer says: its status, and the code of the problem, if it is one. */
    private record Said(int status, String code, HttpResponse<InputStream> response) {
        static Said of(HttpResponse<InputStream> response) {
            boolean isStream =
                    response.headers().firstValue("content-type").orElse("").startsWith("text/event-stream");
            try {
                JsonNode body = isStream ? PayloadJson.MAPPER.nullNode() : PayloadJson.MAPPER.readTree(response.body());
                return new Said(response.statusCode(), body.path("code").asText(), response);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    private static CompletableFuture<Said> sent(McpCaller caller, HttpRequest request) {
        return caller.http()
                .http()
                .sendAsync(request, HttpResponse.BodyHandlers.ofInputStream())
                .thenApply(Said::of);
    }

    private static List<CompletableFuture<Said>> flood(int times, String method, String params) {
        return flood(ann, times, method, params);
    }

    private static List<CompletableFuture<Said>> flood(McpCaller caller, int times, String method, String params) {
        List<CompletableFuture<Said>> flood = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            flood.add(sent(
                    caller,
                    caller.posting(caller.message(method, McpCaller.json(params)))
                            .build()));
        }
        return flood;
    }

    /** Lets the agent reply to a caller, and returns how long that takes. */
    private static Duration serve(McpCaller caller) throws Exception {
        long began = System.nanoTime();
        JsonNode task = caller.call("assistant", "{'message':'Hi'}");
        assertThat(task.path("resultType").asText()).as(task.toString()).isEqualTo("task");
        JsonNode done = await().atMost(Duration.ofMinutes(1))
                .until(
                        () -> caller.task(task.path("taskId").asText()),
                        now -> now.path("status").asText().equals("completed"));
        assertThat(done.at("/result/content/0/text").asText()).isEqualTo("Hello.");
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private static void bobIsServed() throws Exception {
        assertThat(serve(bob)).isLessThan(most);
    }

    private static void assertRefusedWithCode(List<CompletableFuture<Said>> flood, String... codes) {
        List<Said> answers = flood.stream().map(CompletableFuture::join).toList();
        assertThat(answers).allMatch(answer -> answer.status() < 500);
        List<Said> refused =
                answers.stream().filter(answer -> answer.status() == 429).toList();
        assertThat(refused).isNotEmpty().allMatch(answer -> List.of(codes).contains(answer.code()));
        assertThat(refused)
                .allMatch(answer ->
                        answer.response().headers().firstValue("retry-after").isPresent());
        assertThat(answers).anyMatch(answer -> answer.status() == 200);
    }

    @Test
    void requestFlood_isRefusedWithoutDelayingOthers() throws Exception {
        String task = ann.call("assistant", "{'message':'Hi'}").path("taskId").asText();
        List<CompletableFuture<Said>> flood = new ArrayList<>(flood(150, "tools/list", "{}"));
        flood.addAll(flood(150, "tasks/get", "{'taskId':'" + task + "'}"));

        bobIsServed();

        assertRefusedWithCode(flood, "TooManyRequests");
        recover();
    }

    @Test
    void callFlood_isRefusedWithoutDelayingOthers() throws Exception {
        List<CompletableFuture<Said>> flood =
                flood(200, "tools/call", "{'name':'assistant','arguments':{'message':'Hi'}}");

        bobIsServed();

        assertRefusedWithCode(flood, "TooManyRequests");
        recover();
    }

    @Test
    void waitingCallFlood_isRefusedAndOthersCanStillWait() throws Exception {
        McpCaller patient = McpCaller.handshake(ann.http());
        String call =
                "{'name':'prompted','arguments':{'message':'Think'},'_meta':{'dev.waymark/idempotency-key':'flood'}}";
        List<CompletableFuture<Said>> flood = flood(patient, 200, "tools/call", call);

        bobIsServed();
        CompletableFuture<Said> own =
                flood(patient.as(BOB), 1, "tools/call", call).get(0);

        assertThat(own.join().status()).isEqualTo(200);
        own.join().response().body().close();
        assertRefusedWithCode(flood, "TooManyRequests", "TooManyStreams");
        for (CompletableFuture<Said> each : flood) {
            each.join().response().body().close();
        }
        recover();
    }

    @Test
    void largeBodyFlood_isRefusedUnreadWithoutDelayingOthers() throws Exception {
        List<Socket> flood = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            flood.add(connection("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + ANN
                    + "\r\nContent-Type: application/json\r\nContent-Length: 52428800\r\n\r\n" + " ".repeat(1024)));
        }
        List<CompletableFuture<Said>> largest = new ArrayList<>();
        ObjectNode message = ann.message("tools/list", McpCaller.json("{}"));
        message.put("padding", "x".repeat(1024 * 1024 - 1024));
        for (int i = 0; i < 10; i++) {
            largest.add(sent(ann, ann.posting(message).build()));
        }

        bobIsServed();

        for (Socket each : flood) {
            each.setSoTimeout(20_000);
            assertThat(new String(each.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .containsAnyOf("HTTP/1.1 413", "HTTP/1.1 429")
                    .containsAnyOf("\"TooLarge\"", "\"TooManyRequests\"");
            each.close();
        }
        assertThat(largest.stream().map(CompletableFuture::join))
                .allMatch(said -> said.status() == 200
                        || List.of("TooManyRequests", "TooBusy", "BadInput").contains(said.code()));
        recover();
    }

    @Test
    void connectionFlood_isCutOffWithoutDelayingOthers() throws Exception {
        List<Socket> flood = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            flood.add(connection("POST /mcp HTTP/1.1\r\nHost: local"));
        }

        bobIsServed();

        for (Socket each : flood) {
            each.setSoTimeout(30_000);
            assertThat(each.getInputStream().read())
                    .as("closed without an answer")
                    .isEqualTo(-1);
            each.close();
        }
    }

    /** A request that waits for a worker must not hold a thread of the server. */
    @Test
    void callFlood_withoutWorker_doesNotDelayOthers(@TempDir Path empty) throws Exception {
        try (ServedThreads lonely = ServedThreads.withoutWorker(InMemoryServer.start(0), empty)) {
            Path agents = Files.createDirectories(empty.resolve("agents"));
            Files.writeString(agents.resolve("asker.yaml"), "model: scripted:none\n");
            HttpCaller http =
                    HttpCaller.of(lonely.serve(HttpSettings.at("127.0.0.1", 0).withLimits(100, 200, 1_000)), ANN);
            McpCaller tasks = McpCaller.withTasks(http);
            String task =
                    tasks.call("asker", "{'message':'Book'}").path("taskId").asText();
            List<CompletableFuture<Said>> flood = new ArrayList<>();
            for (McpCaller client : List.of(McpCaller.handshake(http), McpCaller.plain(http), tasks)) {
                for (int i = 0; i < 40; i++) {
                    flood.add(sent(
                            client,
                            client.posting(client.message(
                                            "tools/call",
                                            McpCaller.json("{'name':'asker','arguments':{'message':'Book'}}")))
                                    .build()));
                }
            }
            for (int i = 0; i < 80; i++) {
                flood.add(sent(
                        tasks,
                        tasks.posting(tasks.message("tasks/cancel", McpCaller.json("{'taskId':'" + task + "'}")))
                                .build()));
            }
            McpCaller other = tasks.as(BOB);
            for (int i = 0; i < 10; i++) {
                long began = System.nanoTime();
                assertThat(other.send("tools/list", "{}").at("/result/tools").isArray())
                        .isTrue();
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(most);
                Thread.sleep(200);
            }
            flood.forEach(each -> each.cancel(true));
        }
    }

    private static Socket connection(String sent) throws Exception {
        URI address = URI.create(ann.http().address());
        Socket socket = new Socket(address.getHost(), address.getPort());
        socket.getOutputStream().write(sent.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Ann is served again as soon as her flood is over. */
    private static void recover() {
        await().atMost(Duration.ofMinutes(1))
                .until(() -> ann.http()
                                .post("/mcp", "{'jsonrpc':'2.0','id':1,'method':'tools/list'}")
                                .status()
                        == 200);
    }
}
