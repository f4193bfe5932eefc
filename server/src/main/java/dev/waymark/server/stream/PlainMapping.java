package dev.waymark.server.stream;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.watch.WatchEvent;
import dev.waymark.contract.PayloadJson;
import java.util.List;
import java.util.Optional;

/** Sends each line of {@code waymark watch --json} as an event that is named after its type. */
public final class PlainMapping implements WatchMapping {
    @Override
    public List<ServerSentEvent> events(WatchEvent event) {
        if (event instanceof WatchEvent.Happened happened) {
            return List.of(sent(happened.id(), JsonDocuments.of(happened.moment())));
        }
        if (event instanceof WatchEvent.Saved saved) {
            return List.of(sent(saved.id(), JsonDocuments.of(saved.checkpoint())));
        }
        if (event instanceof WatchEvent.Loaded loaded) {
            return List.of(sent(loaded.id(), JsonDocuments.of(loaded.checkpoint())));
        }
        if (event instanceof WatchEvent.Said said) {
            return List.of(sent(said.id(), JsonDocuments.of(said.words())));
        }
        if (event instanceof WatchEvent.Reasoned reasoned) {
            return List.of(sent(reasoned.id(), JsonDocuments.ofReasoning(reasoned.words())));
        }
        if (event instanceof WatchEvent.CallsRunning running) {
            return List.of(sent(JsonDocuments.of(running.calls())));
        }
        if (event instanceof WatchEvent.Unattended unattended) {
            return List.of(
                    sent(typed("no-worker").put("message", unattended.absence().getMessage())));
        }
        if (event instanceof WatchEvent.Attended) {
            return List.of(sent(typed("worker-back")));
        }
        if (event instanceof WatchEvent.StatusChanged changed) {
            return List.of(sent(typed("status").setAll((ObjectNode) JsonDocuments.tree(changed.status()))));
        }
        return List.of(sent(typed("restarted")));
    }

    /** The final event of a closed thread, which tells clients not to reconnect. */
    @Override
    public List<ServerSentEvent> end() {
        return List.of(sent(typed("closed")));
    }

    private static ServerSentEvent sent(String id, JsonNode document) {
        return sent(Optional.of(id), document);
    }

    /** An event that is not in the history of the thread has no id. */
    private static ServerSentEvent sent(JsonNode document) {
        return sent(Optional.empty(), document);
    }

    private static ServerSentEvent sent(Optional<String> id, JsonNode document) {
        return ServerSentEvent.of(id, document.path("type").asText(), document);
    }

    private static ObjectNode typed(String type) {
        return PayloadJson.MAPPER.createObjectNode().put("type", type);
    }
}
