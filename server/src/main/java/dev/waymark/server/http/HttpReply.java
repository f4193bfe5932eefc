package dev.waymark.server.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** A complete response. */
public record HttpReply(int status, String contentType, byte[] body, Map<String, String> headers)
        implements HttpAnswer {
    public HttpReply {
        headers = Map.copyOf(headers);
    }

    public static HttpReply json(int status, JsonNode document) {
        return new HttpReply(
                status, "application/json", document.toString().getBytes(StandardCharsets.UTF_8), Map.of());
    }

    /** A response without a body. */
    public static HttpReply empty(int status) {
        return new HttpReply(status, "", new byte[0], Map.of());
    }
}
