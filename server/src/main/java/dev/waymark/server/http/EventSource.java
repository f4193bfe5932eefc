package dev.waymark.server.http;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Supplies the text of a stream of server-sent events. The next part is requested after the previous one was sent. */
public interface EventSource extends AutoCloseable {
    /**
     * A part of the stream.
     *
     * @param text complete events; empty if nothing happened
     * @param last whether the stream ends after this part
     */
    record Part(String text, boolean last) {
        public static final Part NOTHING = new Part("", false);
        public static final Part END = new Part("", true);
    }

    /** Completes with the next part; with an empty one if nothing happens within this time. */
    CompletableFuture<Part> next(Duration most);

    @Override
    void close();
}
