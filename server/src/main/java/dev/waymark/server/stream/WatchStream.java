package dev.waymark.server.stream;

import dev.waymark.client.ThreadWatch;
import dev.waymark.client.watch.WatchEvent;
import dev.waymark.server.http.EventSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Streams the events of a thread, mapped to a protocol. */
public final class WatchStream implements EventSource {
    private final ThreadWatch watch;
    private final WatchMapping mapping;

    public WatchStream(ThreadWatch watch, WatchMapping mapping) {
        this.watch = watch;
        this.mapping = mapping;
    }

    @Override
    public CompletableFuture<Part> next(Duration most) {
        return watch.next(most).thenApply(this::part);
    }

    private Part part(List<WatchEvent> events) {
        StringBuilder text = new StringBuilder();
        for (WatchEvent event : events) {
            mapping.events(event).forEach(sent -> text.append(sent.text()));
            if (mapping.isOver()) {
                return new Part(text.toString(), true);
            }
        }
        boolean over = watch.isOver();
        if (over) {
            mapping.end().forEach(sent -> text.append(sent.text()));
        }
        return new Part(text.toString(), over);
    }

    @Override
    public void close() {
        watch.close();
    }
}
