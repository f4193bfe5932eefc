package dev.waymark.worker.outbound;

import dev.waymark.worker.process.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import okhttp3.Dispatcher;
import okhttp3.HttpUrl;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.RequestBody;
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
                .retryOnConnectionFailure(false)
                .followRedirects(false)
                .followSslRedirects(false)
                .connectTimeout(Duration.ofSeconds(10))
                .writeTimeout(Duration.ofMinutes(1));
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
