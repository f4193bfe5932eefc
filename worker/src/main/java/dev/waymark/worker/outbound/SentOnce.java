package dev.waymark.worker.outbound;

import dev.waymark.connect.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.Dispatcher;
import okhttp3.HttpUrl;
import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.RequestBody;
import okhttp3.Response;
import okio.BufferedSink;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a client that sends each request at most once: neither a broken connection nor a redirect nor the
 * server's wish repeats it, and no limit on concurrent requests delays it.
 */
public final class SentOnce {
    public static final MediaType JSON = MediaType.get("application/json");

    private SentOnce() {}

    /** A client with daemon threads of this name. */
    public static OkHttpClient.Builder client(String threads) {
        Dispatcher dispatcher = new Dispatcher(Executors.newCachedThreadPool(DaemonThreads.named(threads)));
        // OkHttp allows five requests per host by default and queues the rest.
        dispatcher.setMaxRequests(Integer.MAX_VALUE);
        dispatcher.setMaxRequestsPerHost(Integer.MAX_VALUE);
        return new OkHttpClient.Builder()
                .dispatcher(dispatcher)
                .addNetworkInterceptor(SentOnce::send)
                .retryOnConnectionFailure(false)
                .followRedirects(false)
                .followSslRedirects(false)
                .connectTimeout(Duration.ofSeconds(10))
                .writeTimeout(Duration.ofMinutes(1));
    }

    private static Response send(Interceptor.Chain chain) throws IOException {
        Mark mark = chain.request().tag(Mark.class);
        if (mark == null) {
            return chain.proceed(chain.request());
        }
        if (!mark.leave()) {
            throw new IOException("given up");
        }
        Response response = chain.proceed(chain.request());
        mark.status = response.code();
        // With this header, OkHttp would repeat a request without a body.
        return response.newBuilder().removeHeader("Retry-After").build();
    }

    /** Sends the request, and reads the response in a thread of the client. */
    public static <T> CompletableFuture<T> answer(Call call, Reader<T> reader) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        call.enqueue(new Callback() {
            @Override
            public void onFailure(Call failed, IOException e) {
                answer.completeExceptionally(e);
            }

            @Override
            public void onResponse(Call answered, Response response) {
                try (response) {
                    answer.complete(reader.read(response));
                } catch (IOException | RuntimeException e) {
                    answer.completeExceptionally(e);
                }
            }
        });
        return answer;
    }

    /** Reads a response. */
    public interface Reader<T> {
        T read(Response response) throws IOException;
    }

    /** The tag of a request that tells whether it was sent. If it is given up before, it is never sent. */
    public static final class Mark {
        private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.HERE);
        private volatile int status;

        private enum Stage {
            HERE,
            GONE,
            GIVEN_UP
        }

        private boolean leave() {
            status = 0;
            return stage.updateAndGet(now -> now == Stage.GIVEN_UP ? now : Stage.GONE) == Stage.GONE;
        }

        public boolean isSent() {
            return stage.get() == Stage.GONE;
        }

        /** The status of the response; 0 before it arrives. */
        public int status() {
            return status;
        }

        /** Gives the request up; returns whether it had not been sent. */
        public boolean giveUp() {
            return stage.getAndSet(Stage.GIVEN_UP) == Stage.HERE;
        }

        /** Counts the request as not sent, because the server did not execute it. */
        public void returned() {
            stage.compareAndSet(Stage.GONE, Stage.HERE);
        }
    }

    /**
     * A body that is sent once. OkHttp repeats requests with other bodies after a 408, and after a 503 with {@code
     * Retry-After: 0}, regardless of its settings.
     *
     * @param type null if a header of the request sets it
     */
    public static RequestBody body(@Nullable MediaType type, byte[] content) {
        return new RequestBody() {
            @Override
            public @Nullable MediaType contentType() {
                return type;
            }

            @Override
            public long contentLength() {
                return content.length;
            }

            @Override
            public void writeTo(BufferedSink sink) throws IOException {
                sink.write(content);
            }

            @Override
            public boolean isOneShot() {
                return true;
            }
        };
    }

    /** Whether a redirect stays on the same scheme, host and port, so that it may be followed. */
    public static boolean isSameOrigin(HttpUrl one, HttpUrl other) {
        return one.scheme().equals(other.scheme()) && one.host().equals(other.host()) && one.port() == other.port();
    }
}
