package dev.waymark.client;

import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Waits for a turn in a Java thread of its own, and hands its events to the Java thread that consumes the stream. */
final class TurnStream extends Spliterators.AbstractSpliterator<ThreadEvent> {
    private final Function<Consumer<ThreadEvent>, AgentResult> turn;
    private final TurnEvents events;

    /** Guarded by {@code this}. */
    private @Nullable Thread waiter;

    private TurnStream(Function<Consumer<ThreadEvent>, AgentResult> turn, Consumer<ThreadEvent> other) {
        super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
        this.turn = turn;
        this.events = new TurnEvents(other, () -> {});
    }

    /**
     * @param turn runs a turn with a listener, and waits for its outcome, once the stream is consumed
     * @param other also gets the events
     */
    static Stream<ThreadEvent> of(Function<Consumer<ThreadEvent>, AgentResult> turn, Consumer<ThreadEvent> other) {
        TurnStream events = new TurnStream(turn, other);
        return StreamSupport.stream(events, false).onClose(events::close);
    }

    @Override
    public boolean tryAdvance(Consumer<? super ThreadEvent> action) {
        begin();
        Optional<ThreadEvent> next;
        try {
            next = events.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting", e);
        }
        if (next.isEmpty()) {
            events.failure().ifPresent(TurnStream::rethrow);
        }
        next.ifPresent(action);
        return next.isPresent();
    }

    private synchronized void begin() {
        if (waiter == null && !events.isClosed()) {
            waiter = new Thread(this::run, "waymark-turn");
            waiter.setDaemon(true);
            waiter.start();
        }
    }

    private static void rethrow(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }

    private void run() {
        try {
            events.ended(turn.apply(events));
        } catch (RuntimeException | Error e) {
            events.failed(e);
        }
    }

    private synchronized void close() {
        events.close();
        if (waiter != null && !events.isOver()) {
            waiter.interrupt();
        }
    }
}
