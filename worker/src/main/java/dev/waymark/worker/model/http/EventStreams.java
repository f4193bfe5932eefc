package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelFailure;
import dev.waymark.model.ReplyListener;
import dev.waymark.worker.inbound.InputTooLargeException;
import dev.waymark.worker.inbound.MemoryBudget;
import dev.waymark.worker.inbound.MemoryShortException;
import dev.waymark.worker.inbound.ServerSentEvents;
import dev.waymark.worker.outbound.SentOnce;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.Connection;
import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.Response;

/**
 * Sends requests that are answered with a stream of events. Each request is sent at most once: neither a broken
 * connection nor a redirect repeats it. Thread-safe, without a limit on concurrent requests. Uses daemon threads.
 *
 * <p>A reply has at most 1,048,576 characters and 1,000 parts, an event at most 2 MiB and a stream at most 128 MiB. All
 * replies that are being read share the worker's {@link MemoryBudget}.
 */
public final class EventStreams {
    private static final int MOST_ERROR_BYTES = 64 * 1024;

    /** Includes reasoning and arguments. A longer reply would also exceed the limit of a reply in history, 1 MiB. */
    private static final int MOST_CHARACTERS = 1024 * 1024;

    /** Limited, because the workflow must process every call in a reply. */
    private static final int MOST_PARTS = 1_000;

    /** Large enough for a whole reply, which some servers send in one event. */
    private static final int MOST_EVENT_BYTES = 2 * 1024 * 1024;

    /** Services send a few hundred bytes per token, and at most 128,000 tokens. */
    private static final long MOST_STREAM_BYTES = 128 * 1024 * 1024;

    private static final OkHttpClient CLIENT = client();

    private final ProviderService service;

    public EventStreams(ProviderService service) {
        this.service = service;
    }

    private static OkHttpClient client() {
        return SentOnce.client("model stream")
                // Longer than the agent's limit for a silent model, which applies first.
                .readTimeout(Duration.ofMinutes(10))
                .pingInterval(Duration.ofSeconds(30))
                .addNetworkInterceptor(EventStreams::sendOnce)
                .build();
    }

    /**
     * Uses an HTTP/1.1 connection for one request only. Many servers close idle connections within seconds; a request
     * on a closed connection would fail the attempt. With HTTP/2, a closed connection is detected in time.
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
     * Sends the request and reads the events in the calling thread.
     *
     * @param listener is notified when the reply has grown; the reader passes on text and usage
     * @throws InterruptedException if the calling thread is interrupted; the request is canceled
     */
    public Reply ask(Request request, EventReader reader, ReplyListener listener)
            throws ModelFailure, InterruptedException {
        Call call = CLIENT.newCall(
                request.newBuilder().header("Accept", "text/event-stream").build());
        try (MemoryBudget.Share memory = MemoryBudget.ofThisProcess().open();
                Arrivals arrivals = new Arrivals(memory)) {
            call.enqueue(arrivals);
            int counted = 0;
            int grown = 0;
            while (true) {
                Arrival next = arrivals.take();
                if (next instanceof Event event) {
                    boolean last = read(reader, service.withoutKey(event.data()));
                    check(reader);
                    int now = growth(reader);
                    if (now > grown) {
                        grown = now;
                        listener.progress();
                    }
                    memory.take(Math.max(0, reader.size() - counted));
                    counted = Math.max(counted, reader.size());
                    if (last) {
                        return reader.end();
                    }
                } else if (next instanceof End) {
                    return reader.end();
                } else if (next instanceof Refusal refusal) {
                    throw failure(refusal);
                } else {
                    throw failure((Failed) next);
                }
            }
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw ProviderFailures.MALFORMED_REPLY.failure(service.name() + " sent an invalid reply");
        } catch (MemoryShortException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            throw ProviderFailures.WORKER_BUSY.failure(String.valueOf(e.getMessage()));
        } finally {
            call.cancel();
        }
    }

    /** A number that increases as the reply grows. Events that only keep the connection open do not change it. */
    private static int growth(EventReader reader) {
        return (reader.hasBegun() ? 1 : 0) + reader.parts() + reader.size();
    }

    private void check(EventReader reader) throws ModelFailure {
        if (reader.size() > MOST_CHARACTERS) {
            throw tooLarge("a reply of more than " + MOST_CHARACTERS + " characters");
        }
        if (reader.parts() > MOST_PARTS) {
            throw tooLarge("a reply of more than " + MOST_PARTS + " parts");
        }
    }

    private ModelFailure tooLarge(String what) {
        return ProviderFailures.REPLY_TOO_LARGE.failure(service.name() + " sent " + what);
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
        if (failed.cause() instanceof InputTooLargeException large) {
            return tooLarge(String.valueOf(large.getMessage()));
        }
        if (failed.cause() instanceof MemoryShortException busy) {
            return ProviderFailures.WORKER_BUSY.failure(String.valueOf(busy.getMessage()));
        }
        String words = service.withoutKey(
                Optional.ofNullable(failed.cause().getMessage()).orElse(""));
        return failed.begun()
                ? ProviderFailures.streamCut(service, ": " + words)
                : ProviderFailures.UNREACHABLE.failure(service.name() + " can't be reached: " + words);
    }

    private ModelFailure failure(Refusal refusal) {
        ErrorBody body = ErrorBody.read(service.withoutKey(refusal.body()));
        return ProviderFailures.of(refusal.status(), body)
                .failure(
                        service.name() + " answered " + refusal.status() + body.words(),
                        RetryAfter.of(refusal.headers(), Instant.now()));
    }

    private sealed interface Arrival {}

    private record Event(String data) implements Arrival {}

    private record End() implements Arrival {}

    /** A response that is not a successful event stream. */
    private record Refusal(int status, okhttp3.Headers headers, String body) implements Arrival {}

    /** @param begun whether the connection failed after the start of the response */
    private record Failed(Exception cause, boolean begun) implements Arrival {}

    /**
     * Passes events from OkHttp's thread to the calling thread. Its capacity is small, so that a fast service waits
     * until its events are read.
     */
    private static final class Arrivals implements Callback, AutoCloseable {
        private static final int AHEAD = 4;

        private final MemoryBudget.Share memory;
        private final BlockingQueue<Arrival> queue = new LinkedBlockingQueue<>();
        private final Semaphore room = new Semaphore(AHEAD);
        private volatile boolean closed;

        Arrivals(MemoryBudget.Share memory) {
            this.memory = memory;
        }

        Arrival take() throws InterruptedException {
            Arrival next = queue.take();
            room.release();
            return next;
        }

        /** Called when no more events are read. Unblocks OkHttp's thread. */
        @Override
        public void close() {
            closed = true;
            room.release();
        }

        @Override
        public void onFailure(Call call, IOException e) {
            queue.add(new Failed(e, false));
        }

        @Override
        public void onResponse(Call call, Response response) {
            try (response) {
                if (isStream(response)) {
                    readEvents(response);
                } else {
                    queue.add(new Refusal(response.code(), response.headers(), body(response)));
                }
            } catch (IOException | RuntimeException e) {
                queue.add(new Failed(e, true));
            } finally {
                // Ensures that the reading thread does not wait forever, even if this thread ends with an error.
                queue.add(new Failed(new IOException("its stream was not read"), true));
            }
        }

        private void readEvents(Response response) throws IOException {
            ServerSentEvents events =
                    new ServerSentEvents(response.body().byteStream(), MOST_STREAM_BYTES, MOST_EVENT_BYTES, memory);
            for (Optional<String> data = events.next(); data.isPresent(); data = events.next()) {
                room.acquireUninterruptibly();
                if (closed) {
                    return;
                }
                queue.add(new Event(data.get()));
            }
            queue.add(new End());
        }

        private static boolean isStream(Response response) {
            MediaType type = response.body().contentType();
            return response.isSuccessful()
                    && type != null
                    && type.type().equals("text")
                    && type.subtype().equals("event-stream");
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
