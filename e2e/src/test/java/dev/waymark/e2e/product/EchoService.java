package dev.waymark.e2e.product;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;

/**
 * A service on 127.0.0.1 whose answers repeat the request, including its credentials. {@code /fails} answers with
 * status 500, {@code /leads} with a redirect, {@code /breaks} with an incomplete answer, and every other path with 200.
 * {@code /mcp} is an MCP server with the tools {@code says}, {@code refuses} and {@code fails}, whose answers repeat
 * the credentials.
 */
public final class EchoService implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();

    private final HttpServer http;
    private final List<String> received = new ArrayList<>();

    private EchoService(HttpServer http) {
        this.http = http;
    }

    public static EchoService start() {
        try {
            HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            EchoService service = new EchoService(http);
            http.setExecutor(Executors.newCachedThreadPool(task -> {
                Thread thread = new Thread(task, "echo service");
                thread.setDaemon(true);
                return thread;
            }));
            http.createContext("/", service::handle);
            http.start();
            return service;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String address() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /** All requests, each as method, target, credentials and body. */
    public synchronized List<String> received() {
        return List.copyOf(received);
    }

    private void handle(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String credentials = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization"))
                .orElse("");
        String all = exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + credentials + " " + body;
        synchronized (this) {
            received.add(all);
        }
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            if (path.startsWith("/mcp")) {
                tools(exchange, JSON.readTree(body), credentials);
            } else if (path.startsWith("/fails")) {
                answer(exchange, 500, "text/plain", "no: " + all);
            } else if (path.startsWith("/leads")) {
                exchange.getResponseHeaders().set("Location", "http://elsewhere.example" + exchange.getRequestURI());
                answer(exchange, 302, "text/plain", all);
            } else if (path.startsWith("/breaks")) {
                exchange.sendResponseHeaders(200, 100_000);
                exchange.getResponseBody().write(all.getBytes(StandardCharsets.UTF_8));
                exchange.getResponseBody().flush();
            } else {
                answer(exchange, 200, "application/json", JSON.writeValueAsString(all));
            }
        }
    }

    private static void answer(HttpExchange exchange, int status, String type, String body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private static void tools(HttpExchange exchange, JsonNode message, String credentials) throws IOException {
        if (!message.has("id")) {
            answer(exchange, 202, "text/plain", "");
            return;
        }
        ObjectNode reply = JSON.createObjectNode().put("jsonrpc", "2.0");
        reply.set("id", message.get("id"));
        switch (message.path("method").asText()) {
            case "initialize" -> reply.putObject("result").put("protocolVersion", "2025-06-18");
            case "tools/list" -> {
                for (String name : List.of("says", "refuses", "fails")) {
                    reply.withObject("/result")
                            .withArray("tools")
                            .addObject()
                            .put("name", name)
                            .put("description", "For " + credentials)
                            .putObject("inputSchema")
                            .put("type", "object");
                }
            }
            default -> {
                String tool = message.at("/params/name").asText();
                if (tool.equals("fails")) {
                    answer(exchange, 500, "text/plain", "no: " + credentials);
                    return;
                }
                if (tool.equals("refuses")) {
                    reply.putObject("error").put("code", -32000).put("message", "not for " + credentials);
                } else {
                    reply.putObject("result")
                            .putArray("content")
                            .addObject()
                            .put("type", "text")
                            .put("text", "said " + credentials);
                }
            }
        }
        answer(exchange, 200, "application/json", reply.toString());
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
