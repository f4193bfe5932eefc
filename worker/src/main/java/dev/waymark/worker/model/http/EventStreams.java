package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import okhttp3.Connection;
import okhttp3.Dispatcher;
import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okhttp3.sse.EventSource;
import okhttp3.sse.EventSourceListener;
import okhttp3.sse.EventSources;
import okio.BufferedSink;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests that are answered with a stream of events. Each request is sent exactly once: neither a broken
 * connection nor a redirect repeats it. Thread-safe, without a limit on concurrent requests. Uses daemon threads.
 */
public final class EventStreams {
    private static final MediaType JSON = MediaType.get("application/json");
    private static final int MOST_ERROR_BYTES = 64 * 1024;

    private static final OkHttpClient CLIENT = client();

    private final ProviderService service;
    private final EventSource.Factory sources = EventSources.createFactory((okhttp3.Call.Factory) CLIENT);

    public EventStreams(ProviderService service) {
        this.service = service;
    }

    private static OkHttpClient client() {
        Dispatcher dispatcher = new Dispatcher(Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "model stream");
            thread.setDaemon(true);
            return thread;
        }));
        // OkHttp allows five requests per host by default and queues the rest.
        dispatcher.setMaxRequests(Integer.MAX_VALUE);
        dispatcher.setMaxRequestsPerHost(Integer.MAX_VALUE);
        return new OkHttpClient.Builder()
                .dispatcher(dispatcher)
                .retryOnConnectionFailure(false)
                .followRedirects(false)
                .followSslRedirects(false)
                .connectTimeout(Duration.ofSeconds(10))
                .writeTimeout(Duration.ofMinutes(1))
                // A model may think for minutes before it sends anything.
                .readTimeout(Duration.ofMinutes(5))
                .pingInterval(Duration.ofSeconds(30))
                .addNetworkInterceptor(EventStreams::sendOnce)
                .build();
    }

    /**
     * Uses an HTTP/1.1 connection for one request only. Many servers close idle connections within seconds; a request
     * on a closed one would be a failed attempt. With HTTP/2 a closed connection is noticed in time.
     */
    private static Response sendOnce(Interceptor.Chain chain) throws IOException {
        Connection connection = chain.connection();
        boolean shared = connection != null && connection.protocol() == Protocol.HTTP_2;
        return chain.proceed(
                shared
                        ? chain.request()
                        : chain.request()
                                .newBuilder()
                                .header("Connection", "close")
                                .build());
    }

    /**
     * A body that is sent once. OkHttp repeats other requests after a 408, and after a 503 with {@code Retry-After: 0}.
     */
    public static RequestBody once(Object body) {
        byte[] json = ProviderJson.bytes(body);
        return new RequestBody() {
            @Override
            public MediaType contentType() {
                return JSON;
            }

            @Override
            public long contentLength() {
                return json.length;
            }

            @Override
            public void writeTo(BufferedSink sink) throws IOException {
                sink.write(json);
            }

            @Override
            public boolean isOneShot() {
                return true;
            }
        };
    }

    /**
     * Sends the request and reads the events in the calling thread.
     *
     * @throws InterruptedException if that thread is interrupted; the request is canceled
     */
    public Reply ask(Request request, EventReader reader) throws ModelFailure, InterruptedException {
        Arrivals arrivals = new Arrivals();
        EventSource source = sources.newEventSource(request, arrivals);
        try {
            while (true) {
                Arrival next = arrivals.queue.take();
                if (next instanceof Event event) {
                    if (read(reader, service.withoutKey(event.data()))) {
                        return reader.end();
                    }
                } else if (next instanceof End) {
                    return reader.end();
                } else {
                    throw failure((Failed) next);
                }
            }
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw ProviderFailures.MALFORMED_REPLY.failure(service.name() + " sent an invalid reply");
        } finally {
            source.cancel();
        }
    }

    private boolean read(EventReader reader, String data) throws ModelFailure {
        try {
            return reader.read(data);
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw ProviderFailures.MALFORMED_REPLY.failure(
                    service.name() + " sent an invalid reply: " + ErrorBody.cut(data));
        }
    }

    private ModelFailure failure(Failed failed) {
        if (failed.status() == 0) {
            ProviderFailures trouble = failed.begun() ? ProviderFailures.STREAM_CUT : ProviderFailures.UNREACHABLE;
            String what = failed.begun() ? " ended the stream in the middle of the reply: " : " can't be reached: ";
            return trouble.failure(service.name() + what + service.withoutKey(failed.words()));
        }
        ErrorBody body = ErrorBody.read(service.withoutKey(failed.words()));
        return ProviderFailures.of(failed.status(), body)
                .failure(
                        service.name() + " answered " + failed.status() + body.words(),
                        RetryAfter.of(failed.headers(), Instant.now()));
    }

    private sealed interface Arrival {}

    private record Event(String data) implements Arrival {}

    private record End() implements Arrival {}

    /** @param status 0 if the connection failed, before or during the stream */
    private record Failed(int status, okhttp3.Headers headers, String words, boolean begun) implements Arrival {}

    /** Passes events from OkHttp's thread to the calling thread. */
    private static final class Arrivals extends EventSourceListener {
        private final BlockingQueue<Arrival> queue = new LinkedBlockingQueue<>();
        private volatile boolean begun;

        @Override
        public void onOpen(EventSource source, Response response) {
            begun = true;
        }

        @Override
        public void onEvent(EventSource source, @Nullable String id, @Nullable String type, String data) {
            queue.add(new Event(data));
        }

        @Override
        public void onClosed(EventSource source) {
            queue.add(new End());
        }

        @Override
        public void onFailure(EventSource source, @Nullable Throwable problem, @Nullable Response response) {
            if (response == null || begun) {
                String words = problem == null ? "" : String.valueOf(problem.getMessage());
                queue.add(new Failed(0, okhttp3.Headers.EMPTY, words, begun));
                return;
            }
            queue.add(new Failed(response.code(), response.headers(), body(response), false));
        }

        private static String body(Response response) {
            try {
                return response.peekBody(MOST_ERROR_BYTES).string();
            } catch (IOException e) {
                return "";
            }
        }
    }
}
