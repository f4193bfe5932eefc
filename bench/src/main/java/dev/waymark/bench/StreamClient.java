package dev.waymark.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Reads a thread's events. When a stream ends, reconnects with {@code Last-Event-ID}, possibly to another instance. */
final class StreamClient implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();
    private static final long RETRY_MILLIS = 200;
    private static final int PATIENCE_SECONDS = 180;
    static final String WORDS = "text-delta";

    private final HttpClient http;
    private final Supplier<String> address;
    private final String thread;
    private final BiConsumer<String, JsonNode> events;
    private final List<String> ids = new ArrayList<>();
    private String lastId = "";
    private int connections;
    private int restarts;
    private volatile boolean closed;
    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    private CompletableFuture<?> request = CompletableFuture.completedFuture(null);

    /**
     * @param address supplies the address of the instance to connect to; called before each connection
     * @param events receives the name and the data of each event
     */
    StreamClient(HttpClient http, Supplier<String> address, String thread, BiConsumer<String, JsonNode> events) {
        this.http = http;
        this.address = address;
        this.thread = thread;
        this.events = events;
    }

    synchronized StreamClient open() {
        if (closed) {
            return this;
        }
        connections++;
        HttpRequest.Builder get =
                HttpRequest.newBuilder(URI.create(address.get() + "/v1/threads/" + thread + "/events"));
        if (!lastId.isEmpty()) {
            get.header("Last-Event-ID", lastId);
        }
        Lines lines = new Lines();
        request = http.sendAsync(get.build(), HttpResponse.BodyHandlers.fromLineSubscriber(lines));
        request.whenComplete(
                (response, failure) -> CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS)
                        .execute(this::open));
        return this;
    }

    private synchronized void event(String id, String name, String data) {
        try {
            JsonNode document = JSON.readTree(data);
            if (name.equals("restarted")) {
                restarts++;
            }
            if (!id.isEmpty()) {
                lastId = id;
                if (!name.equals(WORDS)) {
                    ids.add(id);
                }
            }
            events.accept(name, document);
            begun.complete(null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether this event is the reply that ends its thread's turn. */
    static boolean isLastReply(String name, JsonNode event) {
        return name.equals("model-replied")
                && event.at("/reply/content/0/type").asText().equals("text");
    }

    String thread() {
        return thread;
    }

    /** Waits for the first event. */
    void awaitEvents() throws Exception {
        begun.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /** Returns the ids of all events except partial text, in the order of arrival. */
    synchronized List<String> ids() {
        return List.copyOf(ids);
    }

    synchronized int connections() {
        return connections;
    }

    /**
     * Returns how many {@code restarted} events the server sent. Each one tells the client to discard earlier events.
     */
    synchronized int restarts() {
        return restarts;
    }

    @Override
    public synchronized void close() {
        closed = true;
        request.cancel(true);
    }

    /** Parses the lines of one connection. An event counts only when it is complete. */
    private final class Lines implements Flow.Subscriber<String> {
        private String id = "";
        private String name = "";
        private String data = "";

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(String line) {
            if (line.startsWith("id: ")) {
                id = line.substring(4);
            } else if (line.startsWith("event: ")) {
                name = line.substring(7);
            } else if (line.startsWith("data: ")) {
                data = line.substring(6);
            } else if (line.isEmpty() && !data.isEmpty()) {
                event(id, name, data);
                id = "";
                name = "";
                data = "";
            }
        }

        @Override
        public void onError(Throwable failure) {
            // The connection was lost, so another one is opened.
        }

        @Override
        public void onComplete() {
            // The stream has ended, so another one is opened.
        }
    }
}
