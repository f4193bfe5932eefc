package dev.waymark.client;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.SaveListener;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.watch.RunningCalls;
import dev.waymark.client.watch.TextDelta;
import dev.waymark.client.watch.Watcher;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.history.Moment;
import dev.waymark.saver.SaverException;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a turn in a Java thread of its own, and hands its events to the Java thread that consumes the stream.
 *
 * <p>A slow consumer makes the wait pause, and with it the callbacks, but neither the turn nor the saver.
 */
final class TurnStream extends Spliterators.AbstractSpliterator<TurnEvent> {
    /** How many events may wait for the consumer before the wait pauses. */
    static final int MOST_WAITING = 256;

    private final Turn turn;
    private final Optional<Watcher> otherWatcher;
    private final Optional<SaveOptions> saving;

    /** Guarded by {@code this}, as are the following fields. */
    private final Queue<TurnEvent> waiting = new ArrayDeque<>();

    private @Nullable Thread waiter;
    private Optional<Throwable> failure = Optional.empty();
    private boolean over;
    private boolean closed;

    /** Runs a turn and waits for its outcome, with this watcher and these options. */
    interface Turn {
        AgentResult run(Watcher watcher, Optional<SaveOptions> saving);
    }

    private TurnStream(Turn turn, Optional<Watcher> otherWatcher, Optional<SaveOptions> saving) {
        super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
        this.turn = turn;
        this.otherWatcher = otherWatcher;
        this.saving = saving;
    }

    /** The turn runs when the stream is consumed. Its events also go to this watcher and the listener of the options. */
    static Stream<TurnEvent> of(Turn turn, Optional<Watcher> watcher, Optional<SaveOptions> saving) {
        TurnStream events = new TurnStream(turn, watcher, saving);
        return StreamSupport.stream(events, false).onClose(events::close);
    }

    @Override
    public boolean tryAdvance(Consumer<? super TurnEvent> action) {
        Optional<TurnEvent> next = next();
        next.ifPresent(action);
        return next.isPresent();
    }

    private synchronized Optional<TurnEvent> next() {
        if (waiter == null && !closed) {
            waiter = new Thread(this::run, "waymark-turn");
            waiter.setDaemon(true);
            waiter.start();
        }
        try {
            while (waiting.isEmpty() && !over && !closed) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting", e);
        }
        if (waiting.isEmpty()) {
            failure.ifPresent(TurnStream::rethrow);
            return Optional.empty();
        }
        notifyAll();
        return Optional.of(waiting.remove());
    }

    private static void rethrow(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }

    private void run() {
        try {
            AgentResult result = turn.run(
                    new TurnWatcher(), saving.map(where -> where.withListener(new TurnListener(where.listener()))));
            add(new TurnEvent.Ended(result));
            end(Optional.empty());
        } catch (RuntimeException | Error e) {
            end(Optional.of(e));
        }
    }

    private synchronized void end(Optional<Throwable> how) {
        failure = how;
        over = true;
        notifyAll();
    }

    private synchronized void close() {
        closed = true;
        waiting.clear();
        if (waiter != null && !over) {
            waiter.interrupt();
        }
        notifyAll();
    }

    private synchronized void add(TurnEvent event) {
        if (!closed) {
            waiting.add(event);
            notifyAll();
        }
    }

    /** Adds an event once there is room for it. Ends the wait for the turn if the stream was closed. */
    private synchronized void addWhenThereIsRoom(TurnEvent event) {
        try {
            while (waiting.size() >= MOST_WAITING && !closed) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            closed = true;
        }
        if (closed) {
            throw new IllegalStateException("the stream of the turn's events is closed");
        }
        add(event);
    }

    private final class TurnWatcher implements Watcher {
        private String thread = "";
        private Set<PendingItem> asked = Set.of();

        @Override
        public void waitBegins(String awaited) {
            otherWatcher.ifPresent(other -> other.waitBegins(awaited));
            thread = awaited;
            addWhenThereIsRoom(new TurnEvent.Began(awaited));
        }

        @Override
        public void waitEnds() {
            otherWatcher.ifPresent(Watcher::waitEnds);
        }

        @Override
        public boolean waitsForWorker(WaymarkException.NoWorker absence) {
            otherWatcher.ifPresent(other -> other.waitsForWorker(absence));
            return true;
        }

        @Override
        public void workerIsBack() {
            otherWatcher.ifPresent(Watcher::workerIsBack);
        }

        @Override
        public boolean happened(Moment moment) {
            otherWatcher.ifPresent(other -> other.happened(moment));
            addWhenThereIsRoom(new TurnEvent.Happened(moment));
            List<PendingItem> open = moment.state().pending(thread);
            open.stream()
                    .filter(item -> !asked.contains(item))
                    .forEach(item -> addWhenThereIsRoom(new TurnEvent.Asked(item)));
            asked = new HashSet<>(open);
            return true;
        }

        @Override
        public boolean said(TextDelta words) {
            otherWatcher.ifPresent(other -> other.said(words));
            addWhenThereIsRoom(new TurnEvent.Said(words));
            return true;
        }

        @Override
        public boolean runs(RunningCalls calls) {
            otherWatcher.ifPresent(other -> other.runs(calls));
            return true;
        }

        @Override
        public boolean saved(CheckpointSaved checkpoint) {
            otherWatcher.ifPresent(other -> other.saved(checkpoint));
            if (saving.isEmpty()) {
                addWhenThereIsRoom(new TurnEvent.Saved(checkpoint));
            }
            return true;
        }
    }

    /** Never waits for the consumer: a save that waits could miss the end of the turn. */
    private final class TurnListener implements SaveListener {
        private final SaveListener other;

        TurnListener(SaveListener other) {
            this.other = other;
        }

        @Override
        public void saved(CheckpointSaved event) {
            other.saved(event);
            add(new TurnEvent.Saved(event));
        }

        @Override
        public void loaded(CheckpointLoaded event) {
            other.loaded(event);
            add(new TurnEvent.Loaded(event));
        }

        @Override
        public void failed(SaverException problem) {
            other.failed(problem);
            add(new TurnEvent.NotSaved(problem));
        }

        @Override
        public void notSaved(String thread) {
            other.notSaved(thread);
        }
    }
}
