package dev.waymark.server.stream;

import dev.waymark.client.ThreadWatch;
import java.util.List;

/** Maps the events of a thread to those of a protocol. Receives every event, in order. */
public interface WatchMapping {
    List<ServerSentEvent> events(ThreadWatch.Item item);

    /** Whether the stream is complete, even if the thread continues. */
    default boolean isOver() {
        return false;
    }

    /** The events to send when the thread has ended. */
    default List<ServerSentEvent> end() {
        return List.of();
    }
}
