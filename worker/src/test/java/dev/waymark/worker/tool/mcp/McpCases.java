package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpTool;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.EffectKeys;
import dev.waymark.worker.tool.kind.ToolRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that apply to every transport, with a real server. */
abstract class McpCases {
    static final Duration PATIENCE = Duration.ofSeconds(60);
    static final EffectKeys KEYS = new EffectKeys(Optional.of("key-1"), OptionalLong.of(3));
    static final String TOKEN = "canary-4711-secret";

    @TempDir
    Path directory;

    McpConnections servers;

    /** A server that gets the token. */
    abstract McpServer server();

    abstract McpEra era();

    /** The requests that the server sees when a connection is opened, and when a doubtful connection is checked. */
    private String hello() {
        return era() == McpEra.STATELESS ? "server/discover" : "initialize";
    }

    /** The requests that the server sees when a call is given up. */
    String hangUp() {
        return "notifications/cancelled";
    }

    @BeforeEach
    void open() {
        servers = new McpConnections(Map.of("PATH", System.getenv("PATH"), "CANARY", TOKEN), directory);
    }

    @AfterEach
    void close() {
        servers.close();
    }

    McpResult call(String tool, Map<String, Object> args) throws Exception {
        return call(server(), tool, args, PATIENCE);
    }

    McpResult call(McpServer server, String tool, Map<String, Object> args, Duration time) throws Exception {
        return servers.call(
                new McpTool(server, tool),
                Json.EMPTY_OBJECT,
                Json.of(args),
                KEYS,
                ToolRun.ServerTurn.ONLY,
                ProcessFence.in(time));
    }

    @Test
    void tools_onSeveralPages_areListedOnce() throws Exception {
        List<RemoteTool> tools = servers.tools(server(), ProcessFence.in(PATIENCE));

        assertThat(tools)
                .extracting(RemoteTool::name)
                .containsExactly(
                        "echo",
                        "sum",
                        "picture",
                        "fail",
                        "charge",
                        "die",
                        "hang",
                        "huge",
                        "chatty",
                        "env",
                        "a.b",
                        ToolServer.LONG_NAME);
        assertThat(tools.get(4))
                .isEqualTo(new RemoteTool(
                        "charge",
                        "Does charge",
                        ToolServer.MAPPER.createObjectNode().put("type", "object"),
                        false));
    }

    @Test
    void call_results_areText() throws Exception {
        assertThat(call("echo", Map.of("text", "Grüße"))).isEqualTo(new McpResult("echo: Grüße", Effect.DONE));
        assertThat(call("sum", Map.of("a", 2, "b", 3))).isEqualTo(new McpResult("{\"sum\":5}", Effect.DONE));
        assertThat(call("picture", Map.of()))
                .isEqualTo(new McpResult("Here it is.\n[image image/png, 5 bytes]", Effect.DONE));
        assertThat(call("fail", Map.of())).isEqualTo(new McpResult("No such city", Effect.OWN_ERROR));
        assertThat(call("a.b", Map.of("text", "c"))).isEqualTo(new McpResult("a.b: c", Effect.DONE));
        assertThat(call("chatty", Map.of("text", "x"))).isEqualTo(new McpResult("chatty: x", Effect.DONE));
    }

    @Test
    void call_withAnEffect_sendsItsKeys() throws Exception {
        call("charge", Map.of("cents", 5));

        assertThat(ToolServer.effects(directory)).containsExactly("charge key-1 3");
    }

    @Test
    void call_manyAtOnce_shareOneConnection() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<McpResult>> results = IntStream.range(0, 40)
                    .mapToObj(i -> threads.submit(() -> call("echo", Map.of("text", "n" + i))))
                    .toList();
            for (int i = 0; i < results.size(); i++) {
                assertThat(results.get(i).get().text()).isEqualTo("echo: n" + i);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(ToolServer.seen(directory)).filteredOn(hello()::equals).hasSize(1);
    }

    @Test
    void call_serverDiesInTheMiddle_isLostAtOnceAndTheNextOneWorks() throws Exception {
        call("echo", Map.of());
        long began = System.nanoTime();

        assertThatThrownBy(() -> call("die", Map.of()))
                .isInstanceOfSatisfying(
                        OutcomeUnknownException.class,
                        lost -> assertThat(lost.isLate()).isFalse());

        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(PATIENCE.dividedBy(2));
        assertThat(call("echo", Map.of("text", "back")).text()).isEqualTo("echo: back");
        assertThat(ToolServer.effects(directory)).containsExactly("die key-1 3");
    }

    @Test
    void call_serverHangs_isLostAtTheFenceAndCanceled() throws Exception {
        call("echo", Map.of());

        assertThatThrownBy(() -> call(server(), "hang", Map.of(), Duration.ofSeconds(1)))
                .isInstanceOfSatisfying(
                        OutcomeUnknownException.class,
                        lost -> assertThat(lost.isLate()).isTrue())
                .hasMessage("timed out after 1s");

        assertThat(call("echo", Map.of("text", "here")).text()).isEqualTo("echo: here");
        String ping = era() == McpEra.STATELESS ? "server/discover" : "ping";
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(ToolServer.seen(directory)).contains(hangUp(), ping));
        assertThat(ToolServer.seen(directory)).filteredOn(hello()::equals).hasSize(era() == McpEra.STATELESS ? 2 : 1);
    }

    @Test
    void call_interrupted_tellsTheServer() throws Exception {
        call("echo", Map.of());
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                call("hang", Map.of());
            } catch (Throwable e) {
                thrown.complete(e);
            }
        });
        caller.start();
        await().atMost(PATIENCE).until(() -> !ToolServer.effects(directory).isEmpty());

        caller.interrupt();

        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        await().atMost(PATIENCE).until(() -> ToolServer.seen(directory).contains(hangUp()));
    }

    @Test
    void tools_declaredFresh_areListedOnce() throws Exception {
        ToolServer.stayFresh(directory, 600_000);
        List<RemoteTool> tools = servers.tools(server(), ProcessFence.in(PATIENCE));
        int pages = listings();

        assertThat(servers.tools(server(), ProcessFence.in(PATIENCE))).isEqualTo(tools);
        assertThat(listings()).isEqualTo(pages);

        ToolServer.remove(directory, "echo");
        call("echo", Map.of()); // Unknown to the server: the list is out of date.
        assertThat(servers.tools(server(), ProcessFence.in(PATIENCE)))
                .extracting(RemoteTool::name)
                .doesNotContain("echo");
    }

    @Test
    void tools_notDeclaredFresh_areListedAgain() throws Exception {
        servers.tools(server(), ProcessFence.in(PATIENCE));
        int pages = listings();

        servers.tools(server(), ProcessFence.in(PATIENCE));

        assertThat(listings()).isEqualTo(2 * pages);
    }

    private int listings() {
        return (int)
                ToolServer.seen(directory).stream().filter("tools/list"::equals).count();
    }

    @Test
    void call_removedTool_isAnError() throws Exception {
        call("echo", Map.of());
        ToolServer.remove(directory, "echo");

        assertThat(call("echo", Map.of())).isEqualTo(new McpResult("Unknown tool: echo (-32602)", Effect.NOT_DONE));
    }

    @Test
    void call_answerTooLong_isUnknownAtOnce() throws Exception {
        assertThat(call("huge", Map.of("bytes", McpChannel.MOST_BYTES + 1)))
                .isEqualTo(new McpResult("the answer is longer than 16777216 bytes", Effect.UNKNOWN));
        assertThat(call("huge", Map.of("bytes", 1_000_000)).text()).hasSize(1_000_000);
    }

    /** Parsed, the values would take thirty times the size of their text. */
    @Test
    void call_answerWithTooManyValues_isUnknownAtOnce() throws Exception {
        assertThat(call("huge", Map.of("values", 600_000)))
                .isEqualTo(new McpResult("the answer is not JSON, or has more than 500000 tokens", Effect.UNKNOWN));
        assertThat(call("echo", Map.of("text", "here")).text()).isEqualTo("echo: here");
    }

    @Test
    void missingVariable_isNotReached() {
        servers.close();
        servers = new McpConnections(Map.of(), directory);

        assertThatThrownBy(() -> call("echo", Map.of()))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("environment variable CANARY is not set in the worker");
    }
}
