package dev.waymark.worker.tool.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.waymark.agent.Endpoint;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.outbound.SentOnce;
import dev.waymark.worker.secret.Secrets;
import dev.waymark.worker.tool.kind.EffectKeys;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import okhttp3.HttpUrl;
import okhttp3.Request;

/**
 * A request built from arguments, or the reason why none can be built. Arguments that the URL references are filled in
 * there. The others become a JSON object in the body of a POST, PUT or PATCH. For other methods they go into the query,
 * which can hold strings, numbers, booleans, and lists of these.
 */
sealed interface RequestAssembly {
    String IDEMPOTENCY_KEY = "Idempotency-Key";
    String FENCING_TOKEN = "Waymark-Fencing-Token";
    String TRACEPARENT = "traceparent";

    record Ready(Request request) implements RequestAssembly {}

    /** The arguments do not fit. The model gets the reason. */
    record Misfit(String why) implements RequestAssembly {}

    /** No request can be built with any arguments. */
    record Unusable(String why) implements RequestAssembly {}

    static RequestAssembly of(Endpoint endpoint, Json args, EffectKeys keys, Secrets secrets) {
        Optional<String> missing = secrets.missing();
        if (missing.isPresent()) {
            return new Unusable("environment variable " + missing.get() + " is not set in the worker");
        }
        UrlTemplate template = UrlTemplate.of(endpoint.url());
        UrlTemplate.Filled filled = template.fill(args, secrets::resolveInLine);
        if (filled instanceof UrlTemplate.Filled.Misfit misfit) {
            return new Misfit(misfit.why());
        }
        if (!(filled instanceof UrlTemplate.Filled.Address address)) {
            return new Unusable("the tool's url: " + filled.why());
        }
        Map<String, Object> rest = new LinkedHashMap<>();
        if (args.value() instanceof Map<?, ?> all) {
            all.forEach((name, value) -> rest.put((String) name, value));
        }
        rest.keySet().removeAll(template.fields());
        Request.Builder request = new Request.Builder().header("User-Agent", "waymark");
        if (endpoint.method().hasBody()) {
            request.url(address.url())
                    .header("Content-Type", "application/json")
                    .method(endpoint.method().name(), SentOnce.body(null, bytes(rest)));
        } else {
            HttpUrl.Builder url = address.url().newBuilder();
            for (Map.Entry<String, Object> field : rest.entrySet()) {
                if (!query(url, field.getKey(), field.getValue())) {
                    return new Misfit(field.getKey() + " goes into the query: expected text, a number, true or false,"
                            + " or a list of these");
                }
            }
            request.url(url.build()).method(endpoint.method().name(), null);
        }
        for (Map.Entry<String, String> header : endpoint.headers().entrySet()) {
            String value = secrets.resolveInLine(header.getValue()).strip();
            if (!RequestHeaders.isValue(value)) {
                return new Unusable(
                        "the header " + header.getKey() + " would hold characters that a header can't have");
            }
            request.header(header.getKey(), value);
        }
        if (endpoint.headers().keySet().stream().noneMatch(TRACEPARENT::equalsIgnoreCase)) {
            keys.traceparent().ifPresent(span -> request.header(TRACEPARENT, span));
        }
        keys.idempotencyKey().ifPresent(key -> request.header(IDEMPOTENCY_KEY, key));
        keys.fencingToken().ifPresent(token -> request.header(FENCING_TOKEN, Long.toString(token)));
        return new Ready(request.build());
    }

    private static boolean query(HttpUrl.Builder url, String name, Object value) {
        if (value == null) {
            return true;
        }
        for (Object item : value instanceof List<?> list ? list : List.of(value)) {
            Optional<String> text = UrlTemplate.text(item);
            if (text.isEmpty()) {
                return false;
            }
            url.addQueryParameter(name, text.get());
        }
        return true;
    }

    /** A header of the request sets the content type, and the tool may define that header. */
    private static byte[] bytes(Map<String, Object> args) {
        try {
            return PayloadJson.MAPPER.writeValueAsBytes(args);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }
}
