package dev.waymark.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model service with a strict limit, which speaks OpenAI's chat completions: a bucket has the requests of a second,
 * and is refilled evenly. If it is empty, a request is refused with 429 and {@code Retry-After: 1}. Every reply calls
 * {@code write_todos}, so a thread goes on calling.
 */
final class LimitedService implements AutoCloseable {
    private static final Pattern THREAD = Pattern.compile("thread-(\\d+)-");
    private static final int REPLY_MILLIS = 200;

    private final HttpServer http;
    private final ExecutorService workers = Executors.newCachedThreadPool();
    private final int perSecond;
    private final List<Request> requests = new ArrayList<>();
    private double available;
    private long filled = System.nanoTime();

    /** @param at on a monotonic clock */
    record Request(int thread, long at, boolean isAccepted) {}

    private LimitedService(HttpServer http, int perSecond) {
        this.http = http;
        this.perSecond = perSecond;
        this.available = perSecond;
    }

    static LimitedService start(int perSecond) throws IOException {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
        LimitedService service = new LimitedService(http, perSecond);
        http.createContext("/", service::reply);
        http.setExecutor(service.workers);
        http.start();
        return service;
    }

    /** The base URL for the provider. */
    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort() + "/v1";
    }

    synchronized List<Request> requests() {
        return List.copyOf(requests);
    }

    private synchronized boolean isAccepted(int thread) {
        long now = System.nanoTime();
        available = Math.min(perSecond, available + (now - filled) / 1e9 * perSecond);
        filled = now;
        boolean isAccepted = available >= 1;
        available -= isAccepted ? 1 : 0;
        requests.add(new Request(thread, now, isAccepted));
        return isAccepted;
    }

    private void reply(HttpExchange exchange) throws IOException {
        try (exchange) {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Matcher thread = THREAD.matcher(body);
            if (!thread.find()) {
                throw new IllegalStateException("no thread in " + body);
            }
            if (!isAccepted(Integer.parseInt(thread.group(1)))) {
                exchange.getResponseHeaders().set("Retry-After", "1");
                exchange.sendResponseHeaders(429, -1);
                return;
            }
            TimeUnit.MILLISECONDS.sleep(REPLY_MILLIS);
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(("""
                    data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_%d","function":{"name":\
                    "write_todos","arguments":"{\\"todos\\":[]}"}}]}}]}

                    data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

                    data: [DONE]

                    """.formatted(System.nanoTime())).getBytes(StandardCharsets.UTF_8));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        http.stop(0);
        workers.shutdownNow();
    }
}
