package dev.waymark.server.stream;

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
        if (event instanceof WatchEvent.Unattended unattended) {
            ObjectNode absence =
                    passing("no-worker").put("message", unattended.absence().getMessage());
            return List.of(ServerSentEvent.of(Optional.empty(), "no-worker", absence));
        }
        if (event instanceof WatchEvent.Attended) {
            return List.of(ServerSentEvent.of(Optional.empty(), "worker-back", passing("worker-back")));
        }
        if (event instanceof WatchEvent.StatusChanged changed) {
            ObjectNode status = passing("status");
            status.setAll((ObjectNode) JsonDocuments.tree(changed.status()));
            return List.of(ServerSentEvent.of(Optional.empty(), "status", status));
        }
        return List.of(ServerSentEvent.of(Optional.empty(), "restarted", passing("restarted")));
    }

    /** The final event of a closed thread, which tells clients not to reconnect. */
    @Override
    public List<ServerSentEvent> end() {
        return List.of(ServerSentEvent.of(Optional.empty(), "closed", passing("closed")));
    }

    private static ServerSentEvent sent(String id, ObjectNode document) {
        return ServerSentEvent.of(Optional.of(id), document.path("type").asText(), document);
    }

    private static ObjectNode passing(String type) {
        return PayloadJson.MAPPER.createObjectNode().put("type", type);
    }
}
