package dev.waymark.server.stream;

import dev.waymark.client.ThreadWatch;
import dev.waymark.server.http.EventSource;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Streams the events of a thread, mapped to a protocol. */
public final class WatchStream implements EventSource {
    /** A part ends with the event that reaches this size, so a slow reader costs little more than its largest event. */
    private static final int PART_CHARS = 64 * 1024;

    private final ThreadWatch watch;
    private final WatchMapping mapping;
    private final Executor executor;
    /** Events that have not been sent. */
    private Iterator<ThreadWatch.Item> events = Collections.emptyIterator();

    /** @param executor converts events that the watch has already returned */
    public WatchStream(ThreadWatch watch, WatchMapping mapping, Executor executor) {
        this.watch = watch;
        this.mapping = mapping;
        this.executor = executor;
    }

    @Override
    public CompletableFuture<Part> next(Duration most) {
        if (events.hasNext()) {
            return CompletableFuture.supplyAsync(this::part, executor);
        }
        return watch.next(most).thenApply(next -> {
            events = next.iterator();
            return part();
        });
    }

    private Part part() {
        StringBuilder text = new StringBuilder();
        while (events.hasNext() && text.length() < PART_CHARS) {
            mapping.events(events.next()).forEach(sent -> text.append(sent.text()));
            if (mapping.isOver()) {
                return new Part(text.toString(), true);
            }
        }
        boolean over = !events.hasNext() && watch.isOver();
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
