package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.contract.PayloadJson;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A caller's token is for this server only. An agent calls the tools of its MCP servers with the token of its own file,
 * or without one.
 */
@Tag("full")
class McpTokenTest {
    private static final String OWN = "token-of-the-agent";
    private static final List<String> RECEIVED = new CopyOnWriteArrayList<>();

    @TempDir
    private static Path directory;

    private static HttpServer downstream;
    private static ServedThreads threads;
    private static HttpCaller ann;

    @BeforeAll
    static void start() throws Exception {
        downstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        downstream.createContext("/", McpTokenTest::serve);
        downstream.start();
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Path program = Files.writeString(directory.resolve("note"), "env >> seen; cat >> seen\n");
        agent(agents, "anonymous", "");
        agent(agents, "known", "\n      headers: { Authorization: \"Bearer " + OWN + "\" }");
        Files.writeString(agents.resolve("program.yaml"), """
                model: scripted:program.script.yaml
                tools:
                  - { name: note, description: Notes, input: { type: object }, command: [sh, "%s"] }
                """.formatted(program));
        script(agents, "program", "note");
        threads = ServedThreads.inMemory(directory, Map.of());
        ann = HttpCaller.of(threads.serve(), ANN);
    }

    @AfterAll
    static void stop() throws Exception {
        threads.close();
        downstream.stop(0);
    }

    private static void agent(Path agents, String name, String more) throws IOException {
        Files.writeString(agents.resolve(name + ".yaml"), """
                model: scripted:%s.script.yaml
                tools:
                  - mcp:
                      name: down
                      url: http://127.0.0.1:%d/mcp%s
                """.formatted(
                        name, downstream.getAddress().getPort(), more));
        script(agents, name, "down_pay");
    }

    private static void script(Path agents, String name, String tool) throws IOException {
        Files.writeString(
                agents.resolve(name + ".script.yaml"),
                "replies:\n  - tool_calls: [{ id: tu_1, name: " + tool + ", input: {} }]\n  - text: Paid.\n");
    }

    /** Answers requests of the handshake era, and keeps everything that it receives. */
    private static void serve(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        RECEIVED.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                + exchange.getRequestHeaders().entrySet() + " " + body);
        JsonNode message = body.isEmpty() ? PayloadJson.MAPPER.nullNode() : PayloadJson.MAPPER.readTree(body);
        ObjectNode answer = PayloadJson.MAPPER.createObjectNode().put("jsonrpc", "2.0");
        answer.set("id", message.path("id"));
        String result = switch (message.path("method").asText()) {
            case "initialize" ->
                "{'protocolVersion':'2025-06-18','capabilities':{'tools':{}},"
                        + "'serverInfo':{'name':'down','version':'1'}}";
            case "tools/list" -> "{'tools':[{'name':'pay','inputSchema':{'type':'object'}}]}";
            case "tools/call" -> "{'content':[{'type':'text','text':'paid'}]}";
            default -> "";
        };
        if (result.isEmpty()) {
            answer.putObject("error").put("code", -32601).put("message", "no such method");
        } else {
            answer.set("result", McpCaller.json(result));
        }
        byte[] bytes = answer.toString().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        boolean isNotification = message.has("method") && !message.has("id");
        exchange.sendResponseHeaders(isNotification ? 202 : 200, isNotification ? -1 : bytes.length);
        if (!isNotification) {
            exchange.getResponseBody().write(bytes);
        }
        exchange.close();
    }

    /** Calls an agent in every way that a caller can, always with the token, and returns its threads. */
    private static void callEverywhere(String agent) throws Exception {
        for (McpCaller client : List.of(McpCaller.handshake(ann), McpCaller.plain(ann), McpCaller.withForms(ann))) {
            JsonNode result = client.send(
                            "tools/call",
                            McpCaller.json("{'name':'" + agent
                                    + "','arguments':{'message':'Pay'},'_meta':{'authorization':'Bearer " + ANN
                                    + "'}}"))
                    .path("result");
            assertThat(result.at("/content/0/text").asText())
                    .as(result.toString())
                    .isEqualTo("Paid.");
        }
        McpCaller tasks = McpCaller.withTasks(ann);
        String task = tasks.call(agent, "{'message':'Pay'}").path("taskId").asText();
        await().atMost(Duration.ofMinutes(1))
                .until(() -> tasks.task(task).path("status").asText().equals("completed"));
        String thread = ann.start(agent, "Pay");
        await().atMost(Duration.ofMinutes(1))
                .until(() -> ann.get("/v1/threads/" + thread).text("status").equals("complete"));
        assertThat(ann.get("/v1/threads/" + thread + "/conversation").body().toString())
                .contains("Paid.")
                .doesNotContain(ANN);
        assertThat(ann.get("/v1/threads/" + thread + "/moments?at=1").body().toString())
                .doesNotContain(ANN);
    }

    @Test
    void callerToken_isNotSentToMcpServersOfAgents() throws Exception {
        RECEIVED.clear();
        callEverywhere("anonymous");

        assertThat(RECEIVED.stream().filter(request -> request.contains("\"tools/call\"")))
                .hasSize(5);
        assertThat(RECEIVED).noneMatch(request -> request.contains(ANN));
        assertThat(RECEIVED)
                .noneMatch(request -> request.toLowerCase(Locale.ROOT).contains("authorization"));
    }

    @Test
    void mcpServersOfAgents_getOnlyTheTokenOfTheAgentFile() throws Exception {
        RECEIVED.clear();
        callEverywhere("known");

        assertThat(RECEIVED.stream().filter(request -> request.contains("\"tools/call\"")))
                .hasSize(5);
        assertThat(RECEIVED)
                .allMatch(request -> request.contains("Bearer " + OWN))
                .noneMatch(request -> request.contains(ANN));
    }

    @Test
    void callerToken_isNotPassedToProgramsOfAgents() throws Exception {
        callEverywhere("program");

        assertThat(directory.resolve("agents/seen")).content().contains("PATH=").doesNotContain(ANN);
    }
}
