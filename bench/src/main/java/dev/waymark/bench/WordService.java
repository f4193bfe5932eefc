package dev.waymark.bench;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToLongFunction;

/**
 * A model service that streams replies as OpenAI does, once the benchmark lets it. Each word is the time at which it is
 * sent, in nanoseconds, and follows a pause.
 */
final class WordService implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 180;

    private final HttpServer http;
    private final ExecutorService voices = Executors.newCachedThreadPool();
    private final int words;
    private final Pauses pauses;
    private final AtomicInteger replies = new AtomicInteger();
    private volatile Round round = new Round(new CountDownLatch(0), new CountDownLatch(0));

    /** A round of replies: the requests that have not arrived, and the permission to reply. */
    private record Round(CountDownLatch asked, CountDownLatch listening) {}

    /** How long the pauses of a reply are. */
    @FunctionalInterface
    interface Pauses {
        /** Returns the milliseconds before each word of this reply. Replies are counted from 0. */
        IntToLongFunction of(int reply);
    }

    private WordService(HttpServer http, int words, Pauses pauses) {
        this.http = http;
        this.words = words;
        this.pauses = pauses;
    }

    static WordService start(int words, Pauses pauses) throws IOException {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
        WordService service = new WordService(http, words, pauses);
        http.createContext("/", service::reply);
        http.setExecutor(service.voices);
        http.start();
        return service;
    }

    /** The base URL for the provider. */
    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort() + "/v1";
    }

    /** Delays all replies until {@link #speak}. */
    void hold(int requests) {
        round = new Round(new CountDownLatch(requests), new CountDownLatch(1));
    }

    /** Waits until this round's number of requests has arrived. */
    void awaitRequests() throws InterruptedException {
        if (!round.asked.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not every thread called its model");
        }
    }

    /** Sends the delayed replies, and later ones at once. */
    void speak() {
        round.listening.countDown();
    }

    private void reply(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        IntToLongFunction millis = pauses.of(replies.getAndIncrement());
        Round own = round;
        try (OutputStream out = exchange.getResponseBody()) {
            own.asked.countDown();
            own.listening.await();
            for (int i = 0; i < words; i++) {
                Thread.sleep(millis.applyAsLong(i));
                send(out, "{\"choices\":[{\"delta\":{\"content\":\"" + System.nanoTime() + " \"}}]}");
            }
            send(out, "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}");
            send(out, "[DONE]");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(OutputStream out, String data) throws IOException {
        out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    @Override
    public void close() {
        http.stop(0);
        voices.shutdownNow();
    }
}
