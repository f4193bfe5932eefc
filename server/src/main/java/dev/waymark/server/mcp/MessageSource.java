package dev.waymark.server.mcp;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Supplies the messages that answer one request. The next ones are requested after the previous ones were sent. */
interface MessageSource extends AutoCloseable {
    /**
     * Some messages.
     *
     * @param isLast whether no more messages follow
     */
    record Part(List<ObjectNode> messages, boolean isLast) {
        public Part {
            messages = List.copyOf(messages);
        }
    }

    /** Completes with the next messages; with none if nothing happens within this time. */
    CompletableFuture<Part> next(Duration most);

    /** Ends the source. The thread continues. */
    @Override
    void close();
}
