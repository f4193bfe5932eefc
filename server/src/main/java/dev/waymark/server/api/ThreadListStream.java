package dev.waymark.server.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.server.http.EventSource;
import dev.waymark.server.stream.ServerSentEvent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Streams a list: once at the beginning, and again whenever it has changed. The Temporal server does not report changes
 * of its list, so this polls it, with pauses of at least four times the duration of a read.
 */
final class ThreadListStream implements EventSource {
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
    private static final int IDLE_FACTOR = 4;

    private final Supplier<ObjectNode> list;
    private final Executor readers;
    private Optional<ObjectNode> shown;
    private Optional<ObjectNode> unsent;
    private Duration pause = SHORTEST_PAUSE;
    private volatile boolean closed;

    /** Reads the list for the first time. Later reads run in {@code readers}. */
    ThreadListStream(Supplier<ObjectNode> list, Executor readers) {
        this.list = list;
        this.readers = readers;
        this.shown = Optional.empty();
        this.unsent = read();
    }

    @Override
    public CompletableFuture<Part> next(Duration most) {
        Optional<ObjectNode> first = unsent;
        unsent = Optional.empty();
        if (first.isPresent()) {
            return CompletableFuture.completedFuture(part(first.get()));
        }
        if (pause.compareTo(most) > 0) {
            pause = pause.minus(most);
            return new CompletableFuture<Part>()
                    .completeOnTimeout(Part.NOTHING, most.toMillis(), TimeUnit.MILLISECONDS);
        }
        Duration left = most.minus(pause);
        Executor later = CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS, readers);
        return CompletableFuture.supplyAsync(() -> closed ? Optional.<ObjectNode>empty() : read(), later)
                .thenCompose(changed -> changed.isPresent() || closed
                        ? CompletableFuture.completedFuture(
                                changed.map(ThreadListStream::part).orElse(Part.END))
                        : next(left));
    }

    /** Reads the list, and returns it if it has changed. */
    private Optional<ObjectNode> read() {
        long began = System.nanoTime();
        Optional<ObjectNode> now = Optional.of(list.get());
        Duration took = Duration.ofNanos(System.nanoTime() - began).multipliedBy(IDLE_FACTOR);
        pause = took.compareTo(SHORTEST_PAUSE) > 0 ? took : SHORTEST_PAUSE;
        boolean isSame = now.equals(shown);
        shown = now;
        return isSame ? Optional.empty() : now;
    }

    private static Part part(ObjectNode list) {
        return new Part(
                ServerSentEvent.of(Optional.empty(), list.path("type").asText(), list)
                        .text(),
                false);
    }

    @Override
    public void close() {
        closed = true;
    }
}
