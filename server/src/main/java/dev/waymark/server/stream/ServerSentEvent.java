package dev.waymark.server.stream;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/**
 * One event in a stream.
 *
 * @param id the value that a client sends as {@code Last-Event-ID} when it reconnects
 * @param name empty for an unnamed event, which clients receive as {@code message}
 */
public record ServerSentEvent(Optional<String> id, Optional<String> name, String data) {
    public static ServerSentEvent of(Optional<String> id, String name, JsonNode document) {
        return new ServerSentEvent(id, Optional.of(name), document.toString());
    }

    /** Creates an unnamed event. */
    public static ServerSentEvent message(Optional<String> id, JsonNode document) {
        return new ServerSentEvent(id, Optional.empty(), document.toString());
    }

    /** The event in wire format. Serialized JSON, ids and names contain no line breaks. */
    public String text() {
        StringBuilder text = new StringBuilder();
        id.ifPresent(value -> text.append("id: ").append(value).append('\n'));
        name.ifPresent(value -> text.append("event: ").append(value).append('\n'));
        return text.append("data: ").append(data).append("\n\n").toString();
    }
}
