package dev.waymark.client;

import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.watch.Watcher;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Waits for a turn in a Java thread of its own, and hands its events to the Java thread that consumes the stream. */
final class TurnStream extends Spliterators.AbstractSpliterator<TurnEvent> {
    private final Turn turn;
    private final TurnEvents events;

    /** Guarded by {@code this}. */
    private @Nullable Thread waiter;

    /** Runs a turn and waits for its outcome, with this watcher and these options. */
    interface Turn {
        AgentResult run(Watcher watcher, Optional<SaveOptions> saving);
    }

    private TurnStream(Turn turn, Optional<Watcher> otherWatcher, Optional<SaveOptions> saving) {
        super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
        this.turn = turn;
        this.events = new TurnEvents(otherWatcher, saving, () -> {});
    }

    /** The turn runs when the stream is consumed. Its events also go to this watcher and the listener of the options. */
    static Stream<TurnEvent> of(Turn turn, Optional<Watcher> watcher, Optional<SaveOptions> saving) {
        TurnStream events = new TurnStream(turn, watcher, saving);
        return StreamSupport.stream(events, false).onClose(events::close);
    }

    @Override
    public boolean tryAdvance(Consumer<? super TurnEvent> action) {
        begin();
        Optional<TurnEvent> next;
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
            events.ended(turn.run(events.watcher(), events.saving()));
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
