package dev.waymark.server.http;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Where a stream's text comes from, as server-sent events. It is asked for more when the last was sent. */
public interface EventSource extends AutoCloseable {
    /**
     * A part of the stream.
     *
     * @param text whole events; none when there was nothing to say for a while
     * @param last whether the stream ends with it
     */
    record Part(String text, boolean last) {
        public static final Part NOTHING = new Part("", false);
        public static final Part END = new Part("", true);
    }

    /** The next part, at the latest after this long. */
    CompletableFuture<Part> next(Duration most);

    @Override
    void close();
}
