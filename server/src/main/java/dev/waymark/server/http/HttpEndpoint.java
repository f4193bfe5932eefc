package dev.waymark.server.http;

import dev.waymark.server.identity.Authenticator;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** Listens for HTTP requests. {@link #drain} lets running requests finish before {@link #close}. */
public final class HttpEndpoint implements AutoCloseable {
    static final int THREADS = 64;
    private static final int CONNECTIONS = 4_000;
    /** A client on a slow link may need minutes for a large checkpoint. */
    private static final Duration REPLY_TIME = Duration.ofMinutes(10);

    private static final HttpLimits LIMITS = HttpLimits.of(THREADS, CONNECTIONS).withReplyTime(REPLY_TIME);
    private static final Duration DRAIN_POLL = Duration.ofMillis(20);

    private final HttpListener listener;
    private final Gateway gateway;
    private final HttpSettings settings;

    private HttpEndpoint(HttpListener listener, Gateway gateway, HttpSettings settings) {
        this.listener = listener;
        this.gateway = gateway;
        this.settings = settings;
    }

    /**
     * Starts listening.
     *
     * @param pages public files, by path, which need no token
     * @param authenticator empty to disable authentication
     * @param failures converts an exception of a handler to the caller's error
     */
    public static HttpEndpoint start(
            HttpSettings settings,
            List<Route> routes,
            Map<String, HttpReply> pages,
            RequestChecks checks,
            Optional<Authenticator> authenticator,
            Function<RuntimeException, HttpProblem> failures)
            throws IOException {
        Gateway gateway = new Gateway(settings, new Router(routes), pages, checks, authenticator, failures);
        HttpListener listener =
                HttpListener.start(settings.host(), settings.port(), "waymark-http", LIMITS, settings.tls(), gateway);
        return new HttpEndpoint(listener, gateway, settings);
    }

    public int port() {
        return listener.port();
    }

    public String address() {
        String host = settings.host().contains(":") ? "[" + settings.host() + "]" : settings.host();
        return (settings.tls().isPresent() ? "https://" : "http://") + host + ":" + port();
    }

    /**
     * Rejects new requests, ends the streams, and waits until running requests and streams have ended, at most this
     * long.
     */
    public void drain(Duration most) {
        gateway.drain();
        long until = System.nanoTime() + most.toNanos();
        while (gateway.isBusy() && System.nanoTime() - until < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(DRAIN_POLL.toMillis()));
        }
    }

    @Override
    public void close() {
        listener.close();
    }
}
