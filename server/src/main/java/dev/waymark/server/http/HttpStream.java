package dev.waymark.server.http;

import java.util.Map;

/** An answer that goes on for as long as its source has something to say. */
public record HttpStream(Map<String, String> headers, EventSource source) implements HttpAnswer {
    public HttpStream {
        headers = Map.copyOf(headers);
    }
}
