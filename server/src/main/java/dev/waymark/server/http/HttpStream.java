package dev.waymark.server.http;

import java.util.Map;

/** A response that stays open until its source ends. */
public record HttpStream(Map<String, String> headers, EventSource source) implements HttpAnswer {
    public HttpStream {
        headers = Map.copyOf(headers);
    }
}
