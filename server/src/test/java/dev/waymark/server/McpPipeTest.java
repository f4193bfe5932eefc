package dev.waymark.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.server.api.AgentCatalog;
import dev.waymark.server.identity.Caller;
import dev.waymark.server.identity.CallerRole;
import dev.waymark.server.mcp.McpPipe;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests MCP over stdin and stdout, as a program that has started the server sees it. */
@Timeout(180)
class McpPipeTest {
    @TempDir
    private static Path directory;

    private static final PromptedModel MODEL = new PromptedModel();
    private static ServedThreads threads;

    private final McpCaller modern = McpCaller.withTasks(null);
    private OutputStream in;
    private BufferedReader out;
    private CompletableFuture<Void> serving;

    @BeforeAll
    static void start() throws Exception {
        threads = ServedThreads.inMemory(directory, Map.of("prompted", MODEL));
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
    }

    @BeforeEach
    void serve() throws IOException {
        Caller caller =
                new Caller(Optional.empty(), Set.of(), Set.of(CallerRole.TALK, CallerRole.OPERATE), Optional.empty());
        Pipe stdin = Pipe.open();
        Pipe stdout = Pipe.open();
        in = Channels.newOutputStream(stdin.sink());
        out = new BufferedReader(Channels.newReader(stdout.source(), StandardCharsets.UTF_8));
        serving = CompletableFuture.runAsync(() -> {
            try (InputStream read = Channels.newInputStream(stdin.source());
                    OutputStream written = Channels.newOutputStream(stdout.sink())) {
                McpPipe.serve(
                        threads.client(),
                        new AgentCatalog(Optional.of(directory.resolve("agents"))),
                        caller,
                        read,
                        written,
                        RuntimeException::printStackTrace);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @AfterEach
    void end() throws Exception {
        in.close();
        serving.get(20, TimeUnit.SECONDS);
        out.close();
    }

    private void send(String line) throws IOException {
        in.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        in.flush();
    }

    private JsonNode next() throws IOException {
        return PayloadJson.MAPPER.readTree(out.readLine());
    }

    private JsonNode nextAnswer() throws IOException {
        JsonNode message = next();
        while (!message.has("id")) {
            message = next();
        }
        return message;
    }

    private JsonNode request(ObjectNode message) throws IOException {
        send(message.toString());
        JsonNode answer = next();
        assertThat(answer.path("id")).as(answer.toString()).isEqualTo(message.path("id"));
        return answer;
    }

    @Test
    void handshake_andCall() throws Exception {
        McpCaller handshake = McpCaller.handshake(null);
        request(handshake.message("initialize", McpCaller.json("{'protocolVersion':'2025-11-25','capabilities':{}}")));
        send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");

        JsonNode answer = request(
                handshake.message("tools/call", McpCaller.json("{'name':'assistant','arguments':{'message':'Hi'}}")));

        assertThat(answer.at("/result/content/0/text").asText()).isEqualTo("Hello.");
    }

    @Test
    void modernClient_needsNoHandshake_andGetsATask() throws Exception {
        JsonNode found = request(modern.message("server/discover", McpCaller.json("{}")));
        JsonNode created = request(
                modern.message("tools/call", McpCaller.json("{'name':'assistant','arguments':{'message':'Hi'}}")));

        assertThat(found.at("/result/supportedVersions/0").asText()).isEqualTo(McpCaller.MODERN);
        assertThat(created.at("/result/resultType").asText()).isEqualTo("task");
    }

    @Test
    void invalidLines_areAnsweredAndTheNextRequestIsServed() throws Exception {
        send("nonsense");
        assertThat(next().at("/error/code").intValue()).isEqualTo(-32700);
        send("[]");
        assertThat(next().at("/error/code").intValue()).isEqualTo(-32600);
        send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"pad\":\"" + "x".repeat(1024 * 1024) + "\"}");
        assertThat(next().at("/error/message").asText()).startsWith("TooLarge");
        send("");
        assertThat(request(McpCaller.handshake(null).message("ping", McpCaller.json("{}")))
                        .has("result"))
                .isTrue();
    }

    @Test
    void cancelledCall_isNotAnsweredAndItsThreadContinues() throws Exception {
        McpCaller handshake = McpCaller.handshake(null);
        ObjectNode call = handshake.message(
                "tools/call",
                McpCaller.json("{'name':'prompted','arguments':{'message':'Think'},'_meta':{'progressToken':1,"
                        + "'dev.waymark/idempotency-key':'cancelled'}}"));
        send(call.toString());
        assertThat(next().path("method").asText()).isEqualTo("notifications/progress");
        send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" + call.path("id")
                + "}}");
        await().pollDelay(Duration.ofMillis(200)).until(() -> true);
        MODEL.says("Thought.");
        MODEL.ends();

        ObjectNode again = handshake.message("tools/call", call.path("params"));
        send(again.toString());
        JsonNode answer = nextAnswer();
        assertThat(answer.path("id")).isEqualTo(again.path("id"));
        assertThat(answer.at("/result/content/0/text").asText()).isEqualTo("Thought.");
    }

    /** A request that stays open until the model replies, and reports progress at once. */
    private static String waiting(String thread, int id) {
        return McpCaller.handshake(null)
                .message(
                        "tools/call",
                        McpCaller.json("{'name':'prompted','arguments':{'message':'Think'},'_meta':{'progressToken':1,"
                                + "'dev.waymark/idempotency-key':'" + thread + "'}}"))
                .put("id", id)
                .toString();
    }

    @Test
    void flood_isRefusedWithItsProblemCode() throws Exception {
        for (int id = 0; id < 200; id++) {
            send(waiting("flood", id));
        }
        for (int id = 64; id < 200; id++) {
            JsonNode answer = nextAnswer();
            assertThat(answer.path("id").intValue()).isEqualTo(id);
            assertThat(answer.at("/error/data/type").asText()).isEqualTo("TooManyRequests");
        }
        MODEL.says("Thought.");
        MODEL.ends();
        assertThat(nextAnswer().path("id").intValue()).isLessThan(64);
    }

    @Test
    void endOfStdin_withOpenRequests_endsTheServer() throws Exception {
        send(waiting("left", 1));
        assertThat(next().path("method").asText()).isEqualTo("notifications/progress");
        end();
        MODEL.says("Thought.");
        MODEL.ends();
    }
}
