package dev.waymark.server.http;

import dev.waymark.conversation.value.ProblemType;
import dev.waymark.server.identity.IdentityProblem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
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

/** Listens for HTTP requests: those of the API of threads, of the codec, or for metrics. */
public final class HttpListener implements AutoCloseable {
    private static final int SERVICE_THREADS = 8;
    private static final int SERVICE_CONNECTIONS = 1_000;
    private static final int HEADER_BYTES = 16 * 1024;
    private static final long BODY_BYTES_PER_SECOND = 256;
    private static final Duration IDLE = Duration.ofSeconds(60);
    /**
     * The number of connections that can wait to be accepted, for example when clients reconnect after another instance
     * was lost. Further connections are reset. Java's default is 50.
     */
    private static final int CONNECTING = 1_024;

    private static final String KEY_STORE_PASSWORD = "in memory only";

    private final Server server;
    private final ServerConnector connector;

    private HttpListener(Server server, ServerConnector connector) {
        this.server = server;
        this.connector = connector;
    }

    /**
     * Starts listening, with a service that answers one request for each connection. Port 0 takes any free port.
     *
     * @param name the name of the Java threads
     * @throws IOException if the address cannot be listened on
     */
    public static HttpListener start(String host, int port, String name, HttpService service) throws IOException {
        HttpLimits limits = HttpLimits.of(SERVICE_THREADS, SERVICE_CONNECTIONS);
        return start(host, port, name, limits, Optional.empty(), new ServiceExchange(service));
    }

    static HttpListener start(
            String host,
            int port,
            String name,
            HttpLimits limits,
            Optional<HttpSettings.Tls> tls,
            Consumer<Transfer> service)
            throws IOException {
        QueuedThreadPool threads = new QueuedThreadPool(limits.threads(), 1);
        threads.setName(name);
        threads.setDaemon(true);
        Server server = new Server(threads);
        ServerConnector connector = connector(server, tls);
        connector.setHost(host);
        connector.setPort(port);
        connector.setIdleTimeout(IDLE.toMillis());
        connector.setAcceptQueueSize(CONNECTING);
        server.addConnector(connector);
        Connections connections = new Connections(limits, connector.getScheduler(), service);
        connector.addBean(connections);
        server.setHandler(connections);
        server.setErrorHandler(new TerseErrors());
        try {
            server.start();
            connections.begin();
        } catch (IOException e) {
            // Says why the address cannot be listened on.
            throw e.getCause() instanceof IOException cause ? cause : e;
        } catch (Exception e) {
            throw new IOException(e);
        }
        return new HttpListener(server, connector);
    }

    private static ServerConnector connector(Server server, Optional<HttpSettings.Tls> files) throws IOException {
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
        if (files.isEmpty()) {
            return new ServerConnector(server, 0, -1, new HttpConnectionFactory(http));
        }
        SecureRequestCustomizer secure = new SecureRequestCustomizer();
        secure.setSniHostCheck(false);
        http.addCustomizer(secure);
        SslContextFactory.Server tls = new SslContextFactory.Server();
        try {
            tls.setKeyStore(PemFiles.keyStore(files.get(), KEY_STORE_PASSWORD.toCharArray()));
        } catch (GeneralSecurityException e) {
            throw new IdentityProblem("cannot use the TLS certificate or key: " + e.getMessage());
        }
        tls.setKeyStorePassword(KEY_STORE_PASSWORD);
        tls.setIncludeProtocols("TLSv1.3", "TLSv1.2");
        return new ServerConnector(
                server, 0, -1, new SslConnectionFactory(tls, "http/1.1"), new HttpConnectionFactory(http));
    }

    public int port() {
        return connector.getLocalPort();
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
                    ? ProblemType.TOO_LARGE
                    : status < 500 ? ProblemType.BAD_INPUT : ProblemType.INTERNAL;
        }
    }
}
