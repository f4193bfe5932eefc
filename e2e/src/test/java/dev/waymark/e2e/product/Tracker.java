package dev.waymark.e2e.product;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** An issue tracker on 127.0.0.1 that accepts every request with its token, and rejects all others with status 401. */
public final class Tracker implements AutoCloseable {
    public static final String TOKEN = "tracker-canary-5d1c";

    private final HttpServer http;
    private final List<String> requests = new ArrayList<>();

    private Tracker(HttpServer http) {
        this.http = http;
    }

    public static Tracker start() {
        try {
            HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            Tracker tracker = new Tracker(http);
            http.createContext("/", tracker::handle);
            http.start();
            return tracker;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String address() {
        return "http://127.0.0.1:" + http.getAddress().getPort() + "/repos/ann/words";
    }

    /** All requests with the token, in order: method, path below the address, and body. */
    public synchronized List<String> requests() {
        return List.copyOf(requests);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            boolean known =
                    ("Bearer " + TOKEN).equals(exchange.getRequestHeaders().getFirst("Authorization"));
            if (known) {
                String path = exchange.getRequestURI().toString().replaceFirst("^/repos/ann/words", "");
                synchronized (this) {
                    requests.add((exchange.getRequestMethod() + " " + path + " " + body).strip());
                }
            }
            byte[] answer = "[{\"number\":7,\"title\":\"It forgets words\"}]".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(known ? 200 : 401, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
