package dev.waymark.testkit.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.function.Function;

/**
 * A fake model service on 127.0.0.1, for one wire format. It sends the answers it is given, and checks every request by
 * the rules of the real service: it rejects every request that the real service would reject, whatever answer it is
 * given. Thread-safe.
 *
 * <pre>{@code
 * try (ModelServer server = new AnthropicServer()) {
 *     server.answers(ModelAnswer.says("Hel", "lo."));
 *     ModelProvider provider = AnthropicProvider.of(server.environment());
 * }
 * }</pre>
 */
public abstract class ModelServer implements AutoCloseable {
    static final JsonMapper JSON = new JsonMapper();

    /** The key that the server accepts. */
    public static final String KEY = "sk-canary-1f2e3d4c5b6a";

    private final HttpServer http;
    private final String path;
    private final CountDownLatch onward = new CountDownLatch(1);
    private Function<Received, ModelAnswer> answers = request -> ModelAnswer.error(500, "no answer was set");
    private final List<Received> received = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();

    /**
     * A request.
     *
     * @param headers with names in lower case
     * @param at the time on a monotonic clock; only differences are meaningful
     */
    public record Received(Map<String, String> headers, JsonNode body, Duration at) {}

    ModelServer(String path) {
        this.path = path;
        try {
            http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        http.setExecutor(Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "model server");
            thread.setDaemon(true);
            return thread;
        }));
        http.createContext("/", this::handle);
        http.start();
    }

    /** The environment variables with which a provider finds the server. */
    public abstract Map<String, String> environment();

    /** Its address, without a path. */
    public String address() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    /** Answers each of the next requests with one of these, and all further requests with the last one. */
    public synchronized void answers(ModelAnswer... answers) {
        Deque<ModelAnswer> next = new ArrayDeque<>(List.of(answers));
        answers(request -> next.size() > 1 ? next.remove() : next.getFirst());
    }

    /**
     * Answers every request with the result of this function. Suits requests whose order is unknown, because several
     * workers send or repeat them.
     */
    public synchronized void answers(Function<Received, ModelAnswer> answers) {
        this.answers = answers;
    }

    /** Ends all pauses, now and later. */
    public void goOn() {
        onward.countDown();
    }

    /** All requests so far, including rejected ones. */
    public synchronized List<Received> received() {
        return List.copyOf(received);
    }

    /** The reasons of rejected requests. */
    public synchronized List<String> complaints() {
        return List.copyOf(complaints);
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] bytes = exchange.getRequestBody().readAllBytes();
        Map<String, String> headers = new LinkedHashMap<>();
        exchange.getRequestHeaders()
                .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), String.join(", ", values)));
        JsonNode body = read(bytes);
        ModelAnswer answer;
        synchronized (this) {
            Received request = new Received(headers, body, Duration.ofNanos(System.nanoTime()));
            received.add(request);
            Optional<ModelAnswer.Error> refusal = refusal(exchange, headers, body);
            refusal.ifPresent(error -> complaints.add(error.body()));
            answer = refusal.isPresent() ? refusal.get() : answers.apply(request);
        }
        try (exchange) {
            send(exchange, body, answer);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private JsonNode read(byte[] body) {
        try {
            return mapper().readTree(body);
        } catch (IOException e) {
            return JSON.missingNode();
        }
    }

    private Optional<ModelAnswer.Error> refusal(HttpExchange exchange, Map<String, String> headers, JsonNode body) {
        URI uri = exchange.getRequestURI();
        if (!exchange.getRequestMethod().equals("POST") || !serves(uri)) {
            return Optional.of(error(404, "no such path: " + uri));
        }
        Optional<ModelAnswer.Error> unknown = keyProblem(uri, headers);
        if (unknown.isPresent()) {
            return unknown;
        }
        if (!headers.getOrDefault("content-type", "").startsWith("application/json")) {
            return Optional.of(error(415, "no JSON: " + headers));
        }
        try {
            check(uri, headers, body);
            return Optional.empty();
        } catch (Refused e) {
            return Optional.of(error(400, String.valueOf(e.getMessage())));
        }
    }

    /** Whether the service has this path. */
    boolean serves(URI uri) {
        return uri.getPath().equals(path);
    }

    /** The error for a request without a valid key. */
    Optional<ModelAnswer.Error> keyProblem(URI uri, Map<String, String> headers) {
        return isAllowed(headers) ? Optional.empty() : Optional.of(error(401, "wrong key: " + headers));
    }

    /** An error in the service's format. */
    ModelAnswer.Error error(int status, String message) {
        String type = switch (status) {
            case 401 -> "authentication_error";
            case 404 -> "not_found_error";
            default -> "invalid_request_error";
        };
        ObjectNode body = JSON.createObjectNode();
        body.putObject("error").put("type", type).put("message", message);
        return ModelAnswer.error(status, body.toString());
    }

    /** Reads requests. */
    JsonMapper mapper() {
        return JSON;
    }

    abstract boolean isAllowed(Map<String, String> headers);

    /** Throws {@link Refused} for requests that the real service would answer with 400. */
    abstract void check(URI uri, Map<String, String> headers, JsonNode body);

    /** The model that a request names. */
    String model(URI uri, JsonNode body) {
        return body.path("model").asText();
    }

    /** The body of a reply in one piece, if the request does not ask for a stream. */
    Optional<String> whole(URI uri, String model, ModelAnswer.Speech speech) {
        return Optional.empty();
    }

    /** The events of a reply to this request. Each piece has its own events. */
    abstract Script script(JsonNode request, String model, ModelAnswer.Speech speech);

    /** The events before the pieces, for each piece, and after them. */
    record Script(List<String> before, List<List<String>> pieces, List<String> after) {}

    /** An event in the wire format. */
    abstract String event(String data);

    private void send(HttpExchange exchange, JsonNode request, ModelAnswer answer)
            throws IOException, InterruptedException {
        if (answer instanceof ModelAnswer.Error error) {
            error.headers().forEach(exchange.getResponseHeaders()::set);
            exchange.getResponseHeaders().putIfAbsent("Content-Type", List.of("application/json"));
            byte[] body = error.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(error.status(), body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            return;
        }
        URI uri = exchange.getRequestURI();
        String model = model(uri, request);
        if (answer instanceof ModelAnswer.Speech speech) {
            Optional<String> body = whole(uri, model, speech);
            if (body.isPresent()) {
                sendWhole(exchange, body.get(), speech);
                return;
            }
        }
        String type = answer instanceof ModelAnswer.Raw raw ? raw.contentType() : "text/event-stream";
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        if (answer instanceof ModelAnswer.Endless endless) {
            sendWithoutEnd(out, script(request, model, endless.speech()));
        }
        boolean whole = answer instanceof ModelAnswer.Raw raw
                ? send(out, raw)
                : send(out, script(request, model, (ModelAnswer.Speech) answer), (ModelAnswer.Speech) answer);
        if (whole) {
            out.close();
        }
    }

    /** A service that does not stream is silent until the reply is complete. */
    private void sendWhole(HttpExchange exchange, String body, ModelAnswer.Speech speech)
            throws IOException, InterruptedException {
        Thread.sleep(speech.pace().multipliedBy(speech.pieces().size()).toMillis());
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        boolean cut = speech.until().isPresent() && !speech.silent();
        if (speech.until().isPresent() && speech.silent()) {
            onward.await();
        }
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes, 0, cut ? bytes.length / 2 : bytes.length);
        exchange.getResponseBody().flush();
    }

    private void sendWithoutEnd(OutputStream out, Script script) throws IOException {
        writeAll(out, script.before());
        while (true) {
            for (List<String> piece : script.pieces()) {
                writeAll(out, piece);
            }
        }
    }

    private boolean send(OutputStream out, ModelAnswer.Raw raw) throws IOException {
        boolean events = raw.contentType().startsWith("text/event-stream");
        do {
            for (String data : raw.data()) {
                write(out, events ? event(data) : data);
            }
        } while (raw.end() == ModelAnswer.Raw.End.NEVER);
        return raw.end() == ModelAnswer.Raw.End.COMPLETE;
    }

    private boolean send(OutputStream out, Script script, ModelAnswer.Speech speech)
            throws IOException, InterruptedException {
        writeAll(out, script.before());
        for (int sent = 0; sent <= script.pieces().size(); sent++) {
            if (speech.until().filter(Integer.valueOf(sent)::equals).isPresent()) {
                if (!speech.silent()) {
                    return false;
                }
                onward.await();
            }
            if (sent < script.pieces().size()) {
                Thread.sleep(speech.pace().toMillis());
                writeAll(out, script.pieces().get(sent));
            }
        }
        writeAll(out, script.after());
        return true;
    }

    private void writeAll(OutputStream out, List<String> events) throws IOException {
        for (String data : events) {
            write(out, event(data));
        }
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    static ObjectNode object(String json) {
        try {
            return (ObjectNode) JSON.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(json, e);
        }
    }

    @Override
    public void close() {
        goOn();
        http.stop(0);
    }

    /** A request that the real service would reject. */
    static final class Refused extends RuntimeException {
        Refused(String why) {
            super(why);
        }
    }

    static void demand(boolean holds, String otherwise) {
        if (!holds) {
            throw new Refused(otherwise);
        }
    }

    static void demandFields(JsonNode object, List<String> known) {
        object.fieldNames()
                .forEachRemaining(name -> demand(known.contains(name), name + ": Extra inputs are not permitted"));
    }
}
