package dev.waymark.e2e.product;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/**
 * A service on 127.0.0.1 that charges for requests to any path. Below {@code /held}, the first request to each path is
 * charged and never answered. A request with a key that was used before is answered but not charged.
 */
public final class ChargeProgram implements AutoCloseable {
    private final HttpServer http;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final List<Request> requests = new ArrayList<>();
    private final Set<String> keys = new LinkedHashSet<>();

    /** @param charged whether the request was charged */
    public record Request(String path, Optional<String> key, String body, boolean charged) {}

    private ChargeProgram(HttpServer http) {
        this.http = http;
    }

    public static ChargeProgram open() {
        try {
            HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            ChargeProgram till = new ChargeProgram(http);
            http.setExecutor(Executors.newCachedThreadPool(task -> {
                Thread thread = new Thread(task, "till");
                thread.setDaemon(true);
                return thread;
            }));
            http.createContext("/", till::handle);
            http.start();
            return till;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String address() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /** The requests to this path, in the order of arrival. */
    public synchronized List<Request> requests(String path) {
        return requests.stream().filter(request -> request.path().equals(path)).toList();
    }

    private void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        Optional<String> key = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        boolean first;
        synchronized (this) {
            first = requests(path).isEmpty();
            boolean charged = key.isEmpty() || keys.add(key.get());
            requests.add(new Request(path, key, body, charged));
        }
        try (exchange) {
            if (first && path.startsWith("/held")) {
                closing.await();
                return;
            }
            byte[] answer = ("charged " + path).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closing.countDown();
        http.stop(0);
    }
}
