package dev.waymark.worker.model.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.model.ModelFailure;
import java.util.List;
import java.util.stream.Stream;

/**
 * The body of an error response: {@code {"error": {"type", "code", "message"}}}, or the body that a gateway sent
 * instead.
 */
public record ErrorBody(List<String> names, String message) {
    private static final int MOST = 1_000;

    public ErrorBody {
        names = List.copyOf(names);
    }

    static ErrorBody read(String body) {
        try {
            JsonNode said = ProviderJson.MAPPER.readTree(body);
            // Google's API wraps the error in a list.
            JsonNode tree = said.isArray() ? said.path(0) : said;
            if (tree.isObject()) {
                return of(tree);
            }
        } catch (JsonProcessingException e) {
            // The body is not JSON; it may come from a proxy.
        }
        return new ErrorBody(List.of(), cut(body.strip()));
    }

    /** @param tree the error, or an object with the error in the field {@code error} */
    public static ErrorBody of(JsonNode tree) {
        JsonNode error = tree.path("error").isObject() ? tree.get("error") : tree;
        List<String> names = Stream.of(error.path("code"), error.path("type"))
                .map(name -> name.asText(""))
                .filter(name -> !name.isEmpty())
                .toList();
        String message = Stream.of(error.path("message"), tree.path("error"), tree.path("detail"))
                .filter(JsonNode::isTextual)
                .map(JsonNode::asText)
                .findFirst()
                .orElseGet(tree::toString);
        return new ErrorBody(names, cut(message));
    }

    /** The failure for an error in the middle of a stream. */
    public ModelFailure inStream(ProviderService service) {
        return ProviderFailures.inStream(this).failure(service.name() + " ended the stream with an error" + words());
    }

    /** The codes and the message of the error, to append to a failure message. */
    String words() {
        String what = names.isEmpty() ? "" : " (" + String.join(", ", names) + ")";
        return what + (message.isEmpty() ? "" : ": " + message);
    }

    static String cut(String text) {
        return text.length() <= MOST ? text : text.substring(0, MOST) + "…";
    }
}
