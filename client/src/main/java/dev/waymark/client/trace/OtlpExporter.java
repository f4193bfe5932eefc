package dev.waymark.client.trace;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Sends spans to a collector by OTLP over HTTP. Reads the variables of OpenTelemetry's exporters: {@code
 * OTEL_EXPORTER_OTLP_ENDPOINT}, {@code OTEL_EXPORTER_OTLP_HEADERS}, {@code OTEL_EXPORTER_OTLP_PROTOCOL}, each also with
 * {@code TRACES_} before its last word, and {@code OTEL_SERVICE_NAME}.
 */
public final class OtlpExporter implements SpanSink {
    private static final int MOST_SPANS = 512;
    private static final int ATTEMPTS = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Set<Integer> PASSING = Set.of(429, 502, 503, 504);
    private static final String PREFIX = "OTEL_EXPORTER_OTLP_";
    private static final String HOME = "http://127.0.0.1:4318";
    private static final String PATH = "v1/traces";

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    private final URI endpoint;
    private final Map<String, String> headers;
    private final boolean json;
    private final String service;

    private OtlpExporter(URI endpoint, Map<String, String> headers, boolean json, String service) {
        this.endpoint = endpoint;
        this.headers = headers;
        this.json = json;
        this.service = service;
    }

    /**
     * @param url the collector's address for traces; takes precedence over the environment
     * @throws IllegalArgumentException if a setting is invalid; the message names it
     */
    public static OtlpExporter of(Optional<String> url, Map<String, String> environment) {
        String address = url.or(() -> Optional.ofNullable(environment.get(PREFIX + "TRACES_ENDPOINT")))
                .orElseGet(() -> joined(environment.getOrDefault(PREFIX + "ENDPOINT", HOME)));
        String protocol = setting(environment, "PROTOCOL").orElse("http/protobuf");
        if (!protocol.equals("http/protobuf") && !protocol.equals("http/json")) {
            throw new IllegalArgumentException("the protocol must be http/protobuf or http/json: " + protocol);
        }
        URI endpoint = URI.create(address);
        if (!"http".equals(endpoint.getScheme()) && !"https".equals(endpoint.getScheme())) {
            throw new IllegalArgumentException("the collector's address must be an http or https URL: " + address);
        }
        return new OtlpExporter(
                endpoint,
                headers(setting(environment, "HEADERS").orElse("")),
                protocol.endsWith("json"),
                serviceName(environment));
    }

    /** The service name in the spans. */
    public static String serviceName(Map<String, String> environment) {
        return environment.getOrDefault("OTEL_SERVICE_NAME", "waymark");
    }

    private static String joined(String base) {
        return base + (base.endsWith("/") ? "" : "/") + PATH;
    }

    private static Optional<String> setting(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(PREFIX + "TRACES_" + name))
                .or(() -> Optional.ofNullable(environment.get(PREFIX + name)));
    }

    private static Map<String, String> headers(String list) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String each : list.split(",")) {
            int equals = each.indexOf('=');
            if (equals > 0) {
                headers.put(
                        each.substring(0, equals).strip(),
                        URLDecoder.decode(each.substring(equals + 1).strip(), StandardCharsets.UTF_8));
            } else if (!each.isBlank()) {
                throw new IllegalArgumentException("a header must be NAME=VALUE, separated by commas");
            }
        }
        return headers;
    }

    @Override
    public void take(List<Span> spans) {
        for (int from = 0; from < spans.size(); from += MOST_SPANS) {
            send(spans.subList(from, Math.min(spans.size(), from + MOST_SPANS)));
        }
    }

    private void send(List<Span> some) {
        byte[] body = json
                ? OtlpRequest.json(some, service).toString().getBytes(StandardCharsets.UTF_8)
                : OtlpRequest.protobuf(some, service);
        HttpRequest.Builder request = HttpRequest.newBuilder(endpoint)
                .timeout(PATIENCE)
                .header("Content-Type", json ? "application/json" : "application/x-protobuf")
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        headers.forEach(request::header);
        HttpRequest built = request.build();
        for (int attempt = 1; ; attempt++) {
            Optional<String> problem = problem(built, attempt == ATTEMPTS);
            if (problem.isEmpty()) {
                return;
            }
            pause(attempt);
        }
    }

    /**
     * Sends the request. Returns empty if the collector accepted it; otherwise a problem that a retry may solve. Throws
     * if no retry is due or would help.
     */
    private Optional<String> problem(HttpRequest request, boolean isLast) {
        String words;
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() / 100 == 2) {
                return Optional.empty();
            }
            words = "HTTP " + answer.statusCode();
            if (!PASSING.contains(answer.statusCode())) {
                throw new CollectorException("the collector refused the spans: " + endpoint + ": " + words);
            }
        } catch (IOException e) {
            words = String.valueOf(
                    Optional.ofNullable(e.getMessage()).orElse(e.getClass().getSimpleName()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CollectorException("interrupted while sending spans to " + endpoint);
        }
        if (isLast) {
            throw new CollectorException("the spans could not be sent: " + endpoint + ": " + words);
        }
        return Optional.of(words);
    }

    private static void pause(int attempt) {
        try {
            Thread.sleep(250L << attempt);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CollectorException("interrupted while waiting for the collector");
        }
    }

    @Override
    public void close() {
        // The client has nothing to close on JDK 17.
    }
}
