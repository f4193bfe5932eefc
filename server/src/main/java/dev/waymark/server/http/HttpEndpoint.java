package dev.waymark.server.http;

import dev.waymark.server.identity.Authenticator;
import dev.waymark.server.identity.IdentityProblem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Listens for HTTP requests. {@link #drain} lets running requests finish before {@link #close}. */
public final class HttpEndpoint implements AutoCloseable {
    static final int THREADS = 64;
    private static final int CONNECTIONS = 4_000;
    private static final int HEADER_BYTES = 16 * 1024;
    private static final long BODY_BYTES_PER_SECOND = 256;
    private static final Duration IDLE = Duration.ofSeconds(60);
    /**
     * The number of connections that can wait to be accepted, for example when clients reconnect after another instance
     * was lost. Further connections are reset. Java's default is 50.
     */
    private static final int CONNECTING = 1_024;

    private static final Duration DRAIN_POLL = Duration.ofMillis(20);
    private static final String KEY_STORE_PASSWORD = "in memory only";

    private final Server server;
    private final ServerConnector connector;
    private final Gateway gateway;
    private final HttpSettings settings;

    private HttpEndpoint(Server server, ServerConnector connector, Gateway gateway, HttpSettings settings) {
        this.server = server;
        this.connector = connector;
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
        QueuedThreadPool threads = new QueuedThreadPool(THREADS);
        threads.setName("waymark-http");
        threads.setDaemon(true);
        Server server = new Server(threads);
        ServerConnector connector = connector(server, settings);
        connector.setHost(settings.host());
        connector.setPort(settings.port());
        connector.setIdleTimeout(IDLE.toMillis());
        connector.setAcceptQueueSize(CONNECTING);
        server.addConnector(connector);
        server.addBean(new NetworkConnectionLimit(CONNECTIONS, server));
        Gateway gateway = new Gateway(settings, new Router(routes), pages, checks, authenticator, failures);
        HeadDeadline heads = new HeadDeadline(gateway, connector.getScheduler());
        connector.addBean(heads);
        server.setHandler(heads);
        server.setErrorHandler(new TerseErrors());
        try {
            server.start();
            heads.begin();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
        return new HttpEndpoint(server, connector, gateway, settings);
    }

    private static ServerConnector connector(Server server, HttpSettings settings) throws IOException {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(HEADER_BYTES);
        http.setMinRequestDataRate(BODY_BYTES_PER_SECOND);
        // A proxy in front may read other requests into a stream with such lines.
        http.setHttpCompliance(HttpCompliance.RFC9110.without(
                "CRLF", HttpCompliance.Violation.LF_HEADER_TERMINATION, HttpCompliance.Violation.LF_CHUNK_TERMINATION));
        // Thread ids may contain slashes and percent signs, so paths are matched before they are decoded.
        http.setUriCompliance(
                UriCompliance.from(
                        "RFC3986,AMBIGUOUS_PATH_SEPARATOR,AMBIGUOUS_PATH_ENCODING,AMBIGUOUS_PATH_PARAMETER,SUSPICIOUS_PATH_CHARACTERS"));
        if (settings.tls().isEmpty()) {
            return new ServerConnector(server, new HttpConnectionFactory(http));
        }
        SecureRequestCustomizer secure = new SecureRequestCustomizer();
        secure.setSniHostCheck(false);
        http.addCustomizer(secure);
        SslContextFactory.Server tls = new SslContextFactory.Server();
        try {
            tls.setKeyStore(PemFiles.keyStore(settings.tls().get(), KEY_STORE_PASSWORD.toCharArray()));
        } catch (GeneralSecurityException e) {
            throw new IdentityProblem("cannot use the TLS certificate or key: " + e.getMessage());
        }
        tls.setKeyStorePassword(KEY_STORE_PASSWORD);
        tls.setIncludeProtocols("TLSv1.3", "TLSv1.2");
        return new ServerConnector(server, new SslConnectionFactory(tls, "http/1.1"), new HttpConnectionFactory(http));
    }

    public int port() {
        return connector.getLocalPort();
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
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("cannot stop the HTTP server", e);
        }
    }

    /** Answers requests that Jetty rejects before routing, without an HTML page or internal details. */
    private static final class TerseErrors extends ErrorHandler {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            int status = response.getStatus() == 0 ? 500 : response.getStatus();
            HttpReply reply = HttpProblem.of(status, code(status), "the request was refused")
                    .reply();
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, reply.contentType());
            response.getHeaders().put("Cache-Control", "no-store");
            // Jetty closes the connection, and the client must not send its next request there.
            response.getHeaders().put(HttpHeader.CONNECTION, "close");
            response.write(true, ByteBuffer.wrap(reply.body()), callback);
            return true;
        }

        private static String code(int status) {
            return status == 413 || status == 414 || status == 431
                    ? "TooLarge"
                    : status < 500 ? "BadInput" : "Internal";
        }
    }
}
