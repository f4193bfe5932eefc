package dev.waymark.server.stream;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.ThreadWatch;
import dev.waymark.client.document.JsonDocuments;
import java.util.List;
import java.util.Optional;

/** Sends each line of {@code waymark watch --json} as an event that is named after its type. */
public final class PlainMapping implements WatchMapping {
    @Override
    public List<ServerSentEvent> events(ThreadWatch.Item item) {
        return List.of(sent(item.id(), JsonDocuments.of(item.event())));
    }

    /** The final event of a closed thread, which tells clients not to reconnect. */
    @Override
    public List<ServerSentEvent> end() {
        return List.of(sent(Optional.empty(), JsonDocuments.typed("closed")));
    }

    private static ServerSentEvent sent(Optional<String> id, JsonNode document) {
        return ServerSentEvent.of(id, document.path("type").asText(), document);
    }
}
