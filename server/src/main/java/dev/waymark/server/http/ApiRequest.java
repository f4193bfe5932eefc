package dev.waymark.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.server.identity.Caller;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A request that passed the checks of the {@link Gateway}.
 *
 * @param path the decoded path parameters
 * @param body empty for requests without a body
 */
public record ApiRequest(
        Caller caller,
        Map<String, String> path,
        Map<String, String> query,
        Function<String, Optional<String>> headers,
        Optional<JsonBody> body) {
    public String pathParameter(String name) {
        return Optional.ofNullable(path.get(name)).orElseThrow();
    }

    public Optional<String> queryParameter(String name) {
        return Optional.ofNullable(query.get(name));
    }

    public Optional<String> header(String name) {
        return headers.apply(name);
    }

    public Optional<String> text(String field) {
        return Optional.ofNullable(json().path(field).textValue());
    }

    /** The value of a field of the body. */
    public Optional<Json> value(String field) {
        return Optional.of(json().path(field))
                .filter(value -> !value.isMissingNode())
                .map(value -> Json.of(PayloadJson.MAPPER.convertValue(value, Object.class)));
    }

    /** The body; a missing node if there is none. */
    public JsonNode json() {
        return body.map(JsonBody::json).orElseGet(MissingNode::getInstance);
    }

    /** The value of a field of the body, exactly as it was received. Empty if there is none. */
    public byte[] source(String field) {
        return body.map(known -> known.source(field)).orElseGet(() -> new byte[0]);
    }
}
