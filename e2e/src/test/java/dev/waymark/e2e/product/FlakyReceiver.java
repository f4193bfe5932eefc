package dev.waymark.e2e.product;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A receiver of announcements on 127.0.0.1 that often fails at random. It fails at most {@value #MOST_FAILURES} times for
 * the same message, because the sender waits longer after each failure.
 */
public final class FlakyReceiver implements AutoCloseable {
    private static final int MOST_FAILURES = 4;
    private static final int MOST_MILLIS = 4_000;

    private final HttpServer http;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Random random;
    private final List<Delivery> deliveries = new ArrayList<>();
    private final Map<String, Integer> failures = new HashMap<>();

    /** How a request is answered. */
    public enum Answer {
        ACCEPTED,
        ACCEPTED_LATE,
        /** Status 500. */
        REFUSED,
        /** The connection is closed without an answer. */
        SILENT,
        /** Status 200, and then the connection is closed in the middle of the answer. */
        BROKEN;

        /** Whether the sender knows that the message was received, if it lives long enough. */
        public boolean isAcceptance() {
            return this == ACCEPTED || this == ACCEPTED_LATE;
        }
    }

    /** A request. Headers have lower-case names. */
    public record Delivery(String path, Map<String, String> headers, String body, Instant at, Answer answer) {}

    private FlakyReceiver(HttpServer http, long seed) {
        this.http = http;
        this.random = new Random(seed);
    }

    public static FlakyReceiver start(long seed) {
        try {
            HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            FlakyReceiver receiver = new FlakyReceiver(http, seed);
            http.setExecutor(receiver.threads);
            http.createContext("/", receiver::handle);
            http.start();
            return receiver;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The address as {@code 127.0.0.1:PORT}. */
    public String address() {
        return "127.0.0.1:" + http.getAddress().getPort();
    }

    /** All requests, in the order in which they arrived. */
    public synchronized List<Delivery> deliveries() {
        return List.copyOf(deliveries);
    }

    private void handle(HttpExchange exchange) throws IOException {
        Map<String, String> headers = new HashMap<>();
        exchange.getRequestHeaders()
                .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.get(0)));
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        Delivery delivery = record(exchange.getRequestURI().toString(), headers, body);
        try (exchange) {
            switch (delivery.answer()) {
                case ACCEPTED -> exchange.sendResponseHeaders(204, -1);
                case ACCEPTED_LATE -> {
                    TimeUnit.MILLISECONDS.sleep(pause());
                    exchange.sendResponseHeaders(204, -1);
                }
                case REFUSED -> exchange.sendResponseHeaders(500, -1);
                case SILENT -> {}
                case BROKEN -> {
                    exchange.sendResponseHeaders(200, 1_000);
                    exchange.getResponseBody().write("ok, and".getBytes(StandardCharsets.UTF_8));
                    exchange.getResponseBody().flush();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized Delivery record(String path, Map<String, String> headers, String body) {
        Answer answer = Answer.values()[random.nextInt(Answer.values().length)];
        if (!answer.isAcceptance() && failures.merge(path + body, 1, Integer::sum) > MOST_FAILURES) {
            answer = Answer.ACCEPTED;
        }
        Delivery delivery = new Delivery(path, Map.copyOf(headers), body, Instant.now(), answer);
        deliveries.add(delivery);
        return delivery;
    }

    private synchronized int pause() {
        return random.nextInt(MOST_MILLIS);
    }

    @Override
    public void close() {
        http.stop(0);
        threads.shutdownNow();
    }
}
