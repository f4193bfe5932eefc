package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.agent.McpServer;
import dev.waymark.contract.McpNames;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A server of version 2026-07-28 that leaves calls unfinished, as a task or until it gets input. The test controls its
 * only task.
 */
public final class TaskToolServer implements AutoCloseable {
    private static final List<String> TOOLS =
            List.of("charge_task", "safe_task", "confirm", "connect", "sample", "swell");
    private static final String ID = "task-0815";

    private record Seen(String method, @Nullable String name) {}

    private final List<Seen> seen = new CopyOnWriteArrayList<>();
    private final Set<String> keys = ConcurrentHashMap.newKeySet();
    private final Map<String, JsonNode> responses = new ConcurrentHashMap<>();
    private HttpServer http;
    private volatile long pollMillis = 300;
    private volatile ObjectNode task = working();

    private TaskToolServer() throws IOException {
        http = begin(0);
    }

    public static TaskToolServer start() throws IOException {
        return new TaskToolServer();
    }

    private HttpServer begin(int port) throws IOException {
        HttpServer begun = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        begun.createContext("/mcp", this::serve);
        begun.start();
        return begun;
    }

    public McpServer server() {
        return McpServer.at("remote", "http://127.0.0.1:" + http.getAddress().getPort() + "/mcp", Map.of());
    }

    public String task() {
        return ID;
    }

    /** Lets the task end with this result. */
    public void finish(String text) {
        ObjectNode done = status("completed");
        done.set("result", ToolServer.text(text));
        task = done;
    }

    /** Lets the task require an account, by this key, until it gets one. */
    public void require(String key, String message) {
        ObjectNode asking = status("input_required");
        asking.putObject("inputRequests").set(key, form(message));
        task = asking;
    }

    /** Asks clients to poll at this interval. */
    public void pollEvery(Duration interval) {
        pollMillis = interval.toMillis();
        task = working();
    }

    /** Deletes the task. */
    public void forget() {
        task = ToolServer.MAPPER.createObjectNode();
    }

    /** Stops accepting connections for a second, and forgets which requests it has seen. */
    public void restart() throws Exception {
        int port = http.getAddress().getPort();
        http.stop(0);
        Thread.sleep(1_000);
        seen.clear();
        http = begin(port);
    }

    public void await(String method, int times) {
        Awaitility.await(method).atMost(Duration.ofSeconds(60)).until(() -> count(method) >= times);
    }

    public int count(String method) {
        return (int) seen.stream().filter(each -> each.method.equals(method)).count();
    }

    /** The header {@code Mcp-Name} of the requests with this method. */
    public List<String> names(String method) {
        return seen.stream()
                .filter(each -> each.method.equals(method))
                .map(each -> String.valueOf(each.name))
                .toList();
    }

    /** The idempotency keys of all calls. */
    public Set<String> keys() {
        return keys;
    }

    public JsonNode response(String key) {
        return responses.get(key);
    }

    private void serve(HttpExchange exchange) throws IOException {
        JsonNode message = ToolServer.read(exchange.getRequestBody().readAllBytes());
        String method = message.path("method").asText();
        seen.add(new Seen(method, exchange.getRequestHeaders().getFirst("Mcp-Name")));
        ObjectNode answer = answer(message, method, message.path("params"));
        if (answer.path("result") instanceof ObjectNode result && !result.has("resultType")) {
            result.put("resultType", "complete");
        }
        byte[] bytes = ToolServer.MAPPER.writeValueAsBytes(answer);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private ObjectNode answer(JsonNode message, String method, JsonNode params) {
        return switch (method) {
            case "server/discover" -> {
                ObjectNode server = ToolServer.MAPPER.createObjectNode();
                server.putArray("supportedVersions").add(McpNames.MODERN);
                yield ToolServer.result(message, server);
            }
            case "tools/list" -> ToolServer.result(message, tools());
            case "tools/call" -> ToolServer.result(message, call(params));
            case "tasks/get" ->
                task.isEmpty()
                        ? ToolServer.error(message, -32602, "Unknown task")
                        : ToolServer.result(message, task.deepCopy());
            case "tasks/update" -> {
                params.path("inputResponses")
                        .properties()
                        .forEach(each -> responses.put(each.getKey(), each.getValue()));
                yield ToolServer.result(message, ToolServer.MAPPER.createObjectNode());
            }
            case "tasks/cancel" -> ToolServer.result(message, ToolServer.MAPPER.createObjectNode());
            default -> ToolServer.error(message, -32601, "Method not found");
        };
    }

    private static ObjectNode tools() {
        ObjectNode page = ToolServer.MAPPER.createObjectNode();
        for (String name : TOOLS) {
            ObjectNode tool = page.withArray("tools").addObject().put("name", name);
            tool.putObject("inputSchema").put("type", "object");
            tool.putObject("annotations").put("readOnlyHint", name.equals("safe_task"));
        }
        return page;
    }

    private ObjectNode call(JsonNode params) {
        keys.add(params.path("_meta").path("dev.waymark/idempotency-key").asText());
        boolean mayAsk = params.path("_meta")
                .path("io.modelcontextprotocol/clientCapabilities")
                .path("elicitation")
                .has("form");
        if (!mayAsk) {
            return ToolServer.text("this client can't be asked");
        }
        JsonNode response = params.path("inputResponses").path("k");
        return switch (params.path("name").asText()) {
            case "charge_task", "safe_task" -> working().put("resultType", "task");
            case "confirm" ->
                response.isMissingNode()
                        ? asking(form("Which account?")).put("requestState", "state-1")
                        : ToolServer.text(
                                response.path("action").asText().equals("decline")
                                        ? "declined"
                                        : "confirmed "
                                                + response.path("content")
                                                        .path("account")
                                                        .asText()
                                                + ", "
                                                + params.path("requestState").asText());
            case "connect" -> {
                ObjectNode page = ToolServer.MAPPER.createObjectNode().put("method", "elicitation/create");
                page.putObject("params")
                        .put("mode", "url")
                        .put("message", "Connect your account")
                        .put("url", "https://pay.example/connect?x=1");
                yield response.isMissingNode() ? asking(page) : ToolServer.text("accepted");
            }
            case "sample" -> asking(ToolServer.MAPPER.createObjectNode().put("method", "sampling/createMessage"));
            default -> asking(form("Which account?")).put("requestState", "x".repeat(70_000));
        };
    }

    private static ObjectNode asking(ObjectNode request) {
        ObjectNode result = ToolServer.MAPPER.createObjectNode().put("resultType", "input_required");
        result.putObject("inputRequests").set("k", request);
        return result;
    }

    private static ObjectNode form(String message) {
        ObjectNode request = ToolServer.MAPPER.createObjectNode().put("method", "elicitation/create");
        ObjectNode schema = request.putObject("params")
                .put("message", message)
                .putObject("requestedSchema")
                .put("type", "object");
        schema.putObject("properties")
                .putObject("account")
                .put("type", "string")
                .put("maxLength", 20);
        schema.putArray("required").add("account");
        return request;
    }

    private ObjectNode working() {
        return status("working");
    }

    private ObjectNode status(String status) {
        return ToolServer.MAPPER
                .createObjectNode()
                .put("taskId", ID)
                .put("status", status)
                .put("createdAt", "2026-11-26T00:00:00Z")
                .putNull("ttlMs")
                .put("pollIntervalMs", pollMillis);
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
