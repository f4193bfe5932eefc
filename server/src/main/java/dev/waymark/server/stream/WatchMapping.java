package dev.waymark.server.stream;

import dev.waymark.client.WatchEvent;
import java.util.List;

/** What a protocol makes of a thread's events. It is shown every one, in order. */
public interface WatchMapping {
    List<ServerSentEvent> events(WatchEvent event);

    /** Whether the stream has nothing more to say, though the thread may go on. */
    default boolean isOver() {
        return false;
    }

    /** What is said at the end of a thread. */
    default List<ServerSentEvent> end() {
        return List.of();
    }
}
