package dev.waymark.worker.tool.mcp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.agent.McpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ToolServer} over HTTP. The answer to {@code initialize} is a document; other answers are streams of events.
 */
public final class HttpToolServer implements AutoCloseable {
    private final ToolServer tools;
    private volatile McpEra era;
    private final HttpServer http;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Set<String> sessions = ConcurrentHashMap.newKeySet();
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicInteger replies = new AtomicInteger();

    private HttpToolServer(Path directory, McpEra era) throws IOException {
        this.era = era;
        tools = new ToolServer(directory, era);
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.setExecutor(threads);
        http.createContext("/mcp", this::serve);
        http.createContext("/moved", exchange -> redirect(exchange, "/mcp"));
        http.createContext("/gone", exchange -> redirect(exchange, "http://localhost:1/mcp"));
        http.createContext("/circle", exchange -> redirect(exchange, "/circle"));
        http.start();
    }

    public static HttpToolServer start(Path directory) throws IOException {
        return start(directory, McpEra.HANDSHAKE);
    }

    static HttpToolServer start(Path directory, McpEra era) throws IOException {
        return new HttpToolServer(directory, era);
    }

    public McpServer at(String path, Map<String, String> headers) {
        return McpServer.at("test", "http://127.0.0.1:" + http.getAddress().getPort() + path, headers);
    }

    /** Continues as a server of another protocol version. */
    void become(McpEra next) {
        era = next;
        tools.become(next);
        sessions.clear();
    }

    /** Forgets all sessions, like a server that was restarted. */
    void forgetSessions() {
        sessions.clear();
    }

    Set<String> sessions() {
        return sessions;
    }

    /** The number of answers to the server's own requests. None is accepted before the server ends. */
    int replies() {
        return replies.get();
    }

    private void serve(HttpExchange exchange) throws IOException {
        String session = exchange.getRequestHeaders().getFirst("Mcp-Session-Id");
        String authorization = exchange.getRequestHeaders().getFirst("Authorization");
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (exchange.getRequestMethod().equals("DELETE")) {
            sessions.remove(session);
            status(exchange, 204, "");
            return;
        }
        JsonNode message = ToolServer.read(body);
        if ("Bearer wrong-token".equals(authorization)) {
            status(exchange, 401, "{\"error\":{\"message\":\"no such token: " + authorization + "\"}}");
            return;
        }
        if (era == McpEra.STATELESS) {
            Optional<ObjectNode> refusal = mismatch(exchange.getRequestHeaders(), message);
            if (refusal.isPresent()) {
                json(exchange, 400, refusal.get());
                return;
            }
        } else if (message.path("method").asText().equals("initialize")) {
            String fresh = UUID.randomUUID().toString();
            sessions.add(fresh);
            exchange.getResponseHeaders().add("Mcp-Session-Id", fresh);
            json(exchange, 200, tools.answer(message).orElseThrow());
            return;
        } else if (session == null || !sessions.contains(session)) {
            status(exchange, 404, "no such session");
            return;
        }
        String name = message.path("params").path("name").asText();
        JsonNode args = message.path("params").path("arguments");
        if (name.equals("die") || (name.equals("charge") && args.has("status"))) {
            // When an HTTP server dies, its connections end, or a proxy answers for it.
            tools.effect(name, message.path("params"));
            if (args.has("status")) {
                status(exchange, args.path("status").asInt(), args.path("words").asText("upstream"));
            } else {
                begin(exchange).close();
            }
            return;
        }
        if (!message.has("method")) {
            replies.incrementAndGet();
            awaitEnd();
            status(exchange, 202, "");
            return;
        }
        Optional<ObjectNode> answer = tools.answer(message);
        if (answer.isPresent()) {
            try (OutputStream out = begin(exchange)) {
                for (int i = 0; i < args.path("pings").asInt(); i++) {
                    event(out, "{\"jsonrpc\":\"2.0\",\"id\":\"p" + i + "\",\"method\":\"ping\"}");
                }
                event(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}");
                event(out, answer.get().toString());
            }
        } else if (message.has("id") && name.equals("hang")) {
            awaitHangUp(begin(exchange));
        } else {
            status(exchange, 202, "");
        }
    }

    /** The error of a server that compares headers with the body. */
    private Optional<ObjectNode> mismatch(Headers headers, JsonNode message) {
        JsonNode params = message.path("params");
        JsonNode text = params.path("arguments").path("text");
        Map<String, JsonNode> required = new LinkedHashMap<>();
        required.put("MCP-Protocol-Version", params.path("_meta").path("io.modelcontextprotocol/protocolVersion"));
        required.put("Mcp-Method", message.path("method"));
        required.put("Mcp-Name", params.path("name"));
        ToolServer.lines(tools.directory(), "marked").stream()
                .filter(line -> line.startsWith(params.path("name").asText() + " "))
                .forEach(line -> required.put("Mcp-Param-" + line.substring(line.indexOf(' ') + 1), text));
        return required.entrySet().stream()
                .filter(entry -> !entry.getValue().asText().equals(decoded(headers.getFirst(entry.getKey()))))
                .findFirst()
                .map(entry -> ToolServer.error(message, -32020, "Header mismatch: " + entry.getKey()));
    }

    private static String decoded(@Nullable String header) {
        if (header == null || !header.startsWith("=?base64?")) {
            return header == null ? "" : header;
        }
        byte[] text = Base64.getDecoder().decode(header.substring("=?base64?".length(), header.length() - 2));
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Sends comments until the client closes the connection, and records that. */
    private void awaitHangUp(OutputStream out) {
        try {
            while (!over.await(50, TimeUnit.MILLISECONDS)) {
                out.write(": here\n\n".getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (IOException e) {
            tools.note("seen", "hung up");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitEnd() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static OutputStream begin(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        return exchange.getResponseBody();
    }

    private static void event(OutputStream out, String data) throws IOException {
        out.write((": comment\r\nid: 1\r\nevent: message\r\ndata: " + data + "\r\n\r\n")
                .getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static void json(HttpExchange exchange, int status, JsonNode answer) throws IOException {
        byte[] bytes = ToolServer.MAPPER.writeValueAsBytes(answer);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private static void redirect(HttpExchange exchange, String to) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().add("Location", to);
        status(exchange, 307, "");
    }

    private static void status(HttpExchange exchange, int code, String words) throws IOException {
        byte[] bytes = words.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(code, bytes.length == 0 ? -1 : bytes.length);
        if (bytes.length > 0) {
            exchange.getResponseBody().write(bytes);
        }
        exchange.close();
    }

    @Override
    public void close() {
        over.countDown();
        http.stop(0);
        threads.shutdownNow();
    }
}
