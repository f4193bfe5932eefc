package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpToken;
import dev.waymark.contract.McpNames;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A server of version 2026-07-28 that requires the newest token, and the authorization server that issues tokens. */
final class TokenToolServer implements AutoCloseable {
    private final HttpServer http;
    private final AtomicInteger issued = new AtomicInteger();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private volatile String token = "none";
    private volatile int seconds = 3_600;
    private volatile String refusal = "";

    TokenToolServer() throws IOException {
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext("/token", this::issue);
        http.createContext("/mcp", this::serve);
        http.start();
    }

    private String address() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    McpServer server() {
        return McpServer.at("issues", address() + "/mcp", Map.of());
    }

    McpServer withCredentials() {
        return server().withToken(McpToken.grantedTo(new McpToken.ClientCredentials(
                address() + "/token", "way mark", "${ISSUES_SECRET}", Optional.of("issues:write"))));
    }

    McpServer withProgram(String... command) {
        return server().withToken(McpToken.printedBy(List.of(command), Map.of()));
    }

    /** Revokes the token, so that the next one is needed. */
    void revoke() {
        token = "revoked";
    }

    void accept(String only) {
        token = only;
    }

    void issueFor(int expiry) {
        seconds = expiry;
    }

    /** Refuses credentials in these words. */
    void refuse(String words) {
        refusal = words;
    }

    /** The requests for tokens: the header and the form. */
    List<String> requests() {
        return requests;
    }

    /** The tokens of the calls, including those that were refused. */
    List<String> calls() {
        return calls;
    }

    private void issue(HttpExchange exchange) throws IOException {
        requests.add(exchange.getRequestHeaders().getFirst("Authorization") + " "
                + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        ObjectNode answer = ToolServer.MAPPER.createObjectNode();
        if (refusal.isEmpty()) {
            token = "issued-token-" + issued.incrementAndGet();
            answer.put("access_token", token).put("token_type", "bearer").put("expires_in", seconds);
        } else {
            answer.put("error", "invalid_client").put("error_description", refusal);
        }
        send(exchange, refusal.isEmpty() ? 200 : 401, answer);
    }

    private void serve(HttpExchange exchange) throws IOException {
        String given = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
        JsonNode message = ToolServer.read(exchange.getRequestBody().readAllBytes());
        String method = message.path("method").asText();
        if (method.equals("tools/call")) {
            calls.add(given);
        }
        if (!given.equals("Bearer " + token)) {
            send(exchange, 401, ToolServer.MAPPER.createObjectNode().put("message", given + " is not valid"));
            return;
        }
        ObjectNode result = ToolServer.MAPPER.createObjectNode().put("resultType", "complete");
        switch (method) {
            case "server/discover" -> result.putArray("supportedVersions").add(McpNames.MODERN);
            case "tools/list" -> {
                ObjectNode tool = result.putArray("tools").addObject().put("name", "close_issue");
                tool.putObject("inputSchema").put("type", "object");
            }
            default ->
                result.putArray("content").addObject().put("type", "text").put("text", "closed with " + given);
        }
        send(exchange, 200, ToolServer.result(message, result));
    }

    private static void send(HttpExchange exchange, int status, JsonNode answer) throws IOException {
        byte[] bytes = ToolServer.MAPPER.writeValueAsBytes(answer);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
