package dev.waymark.server.stream;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/**
 * One event of a stream.
 *
 * @param id by which a client says what it received last
 * @param name without one, a client sees it as a plain message
 */
public record ServerSentEvent(Optional<String> id, Optional<String> name, String data) {
    public static ServerSentEvent of(Optional<String> id, String name, JsonNode document) {
        return new ServerSentEvent(id, Optional.of(name), document.toString());
    }

    /** One without a name. */
    public static ServerSentEvent message(Optional<String> id, JsonNode document) {
        return new ServerSentEvent(id, Optional.empty(), document.toString());
    }

    /** As it is sent. JSON has no line breaks, and ids and names have none of their own. */
    public String text() {
        StringBuilder text = new StringBuilder();
        id.ifPresent(value -> text.append("id: ").append(value).append('\n'));
        name.ifPresent(value -> text.append("event: ").append(value).append('\n'));
        return text.append("data: ").append(data).append("\n\n").toString();
    }
}
