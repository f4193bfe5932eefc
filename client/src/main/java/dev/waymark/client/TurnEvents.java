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

/**
 * The events of a turn between the wait that reports them and the consumer that takes them.
 *
 * <p>A slow consumer makes the wait pause, and with it the callbacks, but neither the turn nor the saver.
 */
final class TurnEvents {
    /** How many events may wait for the consumer before the wait pauses. */
    static final int MOST_WAITING = 256;

    private final Optional<Watcher> otherWatcher;
    private final Optional<SaveOptions> saving;
    private final Runnable onChange;

    /** Guarded by {@code this}, as are the following fields. */
    private final Queue<TurnEvent> waiting = new ArrayDeque<>();

    private Optional<Throwable> failure = Optional.empty();
    private boolean over;
    private boolean closed;

    /**
     * @param watcher also gets what the wait reports
     * @param saving the options to save with, whose listener also gets what it reports
     * @param onChange called, without a lock, when there is an event to take, or no more will come
     */
    TurnEvents(Optional<Watcher> watcher, Optional<SaveOptions> saving, Runnable onChange) {
        this.otherWatcher = watcher;
        this.saving = saving;
        this.onChange = onChange;
    }

    /** The watcher that the wait reports to. */
    Watcher watcher() {
        return new TurnWatcher();
    }

    /** The options that the wait saves with. */
    Optional<SaveOptions> saving() {
        return saving.map(where -> where.withListener(new TurnListener(where.listener())));
    }

    /** Reports the outcome, which is the last event. */
    void ended(AgentResult result) {
        add(new TurnEvent.Ended(result));
        end(Optional.empty());
    }

    /** Reports that the request or the wait has failed. */
    void failed(Throwable how) {
        end(Optional.of(how));
    }

    private void end(Optional<Throwable> how) {
        synchronized (this) {
            if (over) {
                return;
            }
            failure = how;
            over = true;
            notifyAll();
        }
        onChange.run();
    }

    /** Drops all events, and ends the wait at its next event. */
    synchronized void close() {
        closed = true;
        waiting.clear();
        notifyAll();
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Whether the wait is over, however it ended. */
    synchronized boolean isOver() {
        return over;
    }

    /** Whether all events have been taken, and no more will come. */
    synchronized boolean isExhausted() {
        return over && waiting.isEmpty();
    }

    /** Why the wait failed; empty if it has not. */
    synchronized Optional<Throwable> failure() {
        return failure;
    }

    /** Takes the next event, if there is one. */
    synchronized Optional<TurnEvent> poll() {
        Optional<TurnEvent> next = Optional.ofNullable(waiting.poll());
        notifyAll();
        return next;
    }

    /** Waits for the next event, and takes it. Returns empty if no more will come. */
    synchronized Optional<TurnEvent> take() throws InterruptedException {
        while (waiting.isEmpty() && !over && !closed) {
            wait();
        }
        return poll();
    }

    private void add(TurnEvent event) {
        synchronized (this) {
            if (closed) {
                return;
            }
            waiting.add(event);
            notifyAll();
        }
        onChange.run();
    }

    /** Adds an event once there is room for it. Ends the wait for the turn if nobody takes the events any more. */
    private void addWhenThereIsRoom(TurnEvent event) {
        synchronized (this) {
            try {
                while (waiting.size() >= MOST_WAITING && !closed) {
                    wait();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                closed = true;
            }
            if (closed) {
                throw new IllegalStateException("nobody takes the turn's events any more");
            }
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
        public boolean reasoned(TextDelta words) {
            otherWatcher.ifPresent(other -> other.reasoned(words));
            addWhenThereIsRoom(new TurnEvent.Reasoned(words));
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
