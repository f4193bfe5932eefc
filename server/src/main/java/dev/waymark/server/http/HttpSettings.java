package dev.waymark.server.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The address, TLS files, allowed origins and limits of the HTTP server, and where Temporal's Web UI is.
 *
 * @param corsOrigins origins allowed to send cross-origin requests
 * @param loopbackOnly whether to accept only requests whose {@code Host} is a loopback name or address
 * @param requestsPerSecond limit for each caller; bursts may be three times as large
 * @param streamsOfOne maximum open streams for each caller
 * @param streams maximum open streams of all callers
 * @param heartbeat how long a stream may be silent before a comment is sent
 * @param webUi the address of Temporal's Web UI, without a trailing slash, for links from the console
 */
public record HttpSettings(
        String host,
        int port,
        Optional<Tls> tls,
        List<String> corsOrigins,
        boolean loopbackOnly,
        double requestsPerSecond,
        int streamsOfOne,
        int streams,
        Duration heartbeat,
        Optional<String> webUi) {
    private static final double REQUESTS_PER_SECOND = 20;
    private static final int STREAMS_PER_CALLER = 50;
    private static final int STREAMS = 1_000;
    private static final Duration HEARTBEAT = Duration.ofSeconds(15);

    /** The certificate chain and its private key, as PEM files. */
    public record Tls(Path certificates, Path key) {}

    public HttpSettings {
        corsOrigins = List.copyOf(corsOrigins);
    }

    public static HttpSettings at(String host, int port) {
        return new HttpSettings(
                host,
                port,
                Optional.empty(),
                List.of(),
                false,
                REQUESTS_PER_SECOND,
                STREAMS_PER_CALLER,
                STREAMS,
                HEARTBEAT,
                Optional.empty());
    }

    /** A mutable copy of settings, for the methods that change one of them. */
    private static final class Edit {
        private Optional<Tls> tls;
        private List<String> corsOrigins;
        private boolean loopbackOnly;
        private double requestsPerSecond;
        private int streamsOfOne;
        private int streams;
        private Duration heartbeat;
        private Optional<String> webUi;

        Edit(HttpSettings of) {
            tls = of.tls;
            corsOrigins = of.corsOrigins;
            loopbackOnly = of.loopbackOnly;
            requestsPerSecond = of.requestsPerSecond;
            streamsOfOne = of.streamsOfOne;
            streams = of.streams;
            heartbeat = of.heartbeat;
            webUi = of.webUi;
        }
    }

    private HttpSettings but(Consumer<Edit> change) {
        Edit edit = new Edit(this);
        change.accept(edit);
        return new HttpSettings(
                host,
                port,
                edit.tls,
                edit.corsOrigins,
                edit.loopbackOnly,
                edit.requestsPerSecond,
                edit.streamsOfOne,
                edit.streams,
                edit.heartbeat,
                edit.webUi);
    }

    public HttpSettings withTls(Optional<Tls> files) {
        return but(edit -> edit.tls = files);
    }

    public HttpSettings withCorsOrigins(List<String> origins) {
        return but(edit -> edit.corsOrigins = origins);
    }

    public HttpSettings forLoopbackOnly() {
        return but(edit -> edit.loopbackOnly = true);
    }

    public HttpSettings withLimits(double perSecond, int streamsForOne, int streamsForAll) {
        return but(edit -> {
            edit.requestsPerSecond = perSecond;
            edit.streamsOfOne = streamsForOne;
            edit.streams = streamsForAll;
        });
    }

    public HttpSettings withHeartbeat(Duration silence) {
        return but(edit -> edit.heartbeat = silence);
    }

    /**
     * Lets the console link to the Web UI at this address.
     *
     * @throws IllegalArgumentException if it is not the address of a web page
     */
    public HttpSettings withWebUi(Optional<String> address) {
        address.filter(text -> !isWebAddress(text)).ifPresent(text -> {
            throw new IllegalArgumentException("not an http or https address: " + text);
        });
        return but(edit -> edit.webUi = address.map(text -> text.replaceFirst("/+$", "")));
    }

    private static boolean isWebAddress(String text) {
        try {
            URI address = new URI(text);
            return List.of("http", "https").contains(String.valueOf(address.getScheme()))
                    && address.getHost() != null
                    && address.getUserInfo() == null
                    && address.getQuery() == null
                    && address.getFragment() == null;
        } catch (URISyntaxException e) {
            return false;
        }
    }
}
