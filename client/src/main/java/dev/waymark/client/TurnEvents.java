package dev.waymark.client;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * The events of a turn between the wait that reports them and the consumer that takes them.
 *
 * <p>A slow consumer makes the wait pause, and with it the callbacks, but neither the turn nor the saver.
 */
final class TurnEvents implements Consumer<ThreadEvent> {
    /** How many events may wait for the consumer before the wait pauses. */
    static final int MOST_WAITING = 256;

    private final Consumer<ThreadEvent> other;
    private final Runnable onChange;

    /** Guarded by {@code this}, as are the following fields. */
    private final Queue<ThreadEvent> waiting = new ArrayDeque<>();

    private Optional<Throwable> failure = Optional.empty();
    private boolean over;
    private boolean closed;

    /**
     * @param other also gets the events
     * @param onChange called, without a lock, when there is an event to take, or no more will come
     */
    TurnEvents(Consumer<ThreadEvent> other, Runnable onChange) {
        this.other = other;
        this.onChange = onChange;
    }

    /** Adds an event of the wait or of the saver. */
    @Override
    public void accept(ThreadEvent event) {
        other.accept(event);
        boolean isOfTheTurn = event instanceof ThreadEvent.Happened
                || event instanceof ThreadEvent.Said
                || event instanceof ThreadEvent.Reasoned;
        if (isOfTheTurn) {
            awaitRoom();
        }
        // Other events are few, and never wait for the consumer: a save that waits could miss the end of the turn.
        add(event);
    }

    /** Reports the outcome, which is the last event. */
    void ended(AgentResult result) {
        add(new ThreadEvent.Ended(result));
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
    synchronized Optional<ThreadEvent> poll() {
        Optional<ThreadEvent> next = Optional.ofNullable(waiting.poll());
        notifyAll();
        return next;
    }

    /** Waits for the next event, and takes it. Returns empty if no more will come. */
    synchronized Optional<ThreadEvent> take() throws InterruptedException {
        while (waiting.isEmpty() && !over && !closed) {
            wait();
        }
        return poll();
    }

    private void add(ThreadEvent event) {
        synchronized (this) {
            if (closed) {
                return;
            }
            waiting.add(event);
            notifyAll();
        }
        onChange.run();
    }

    /** Waits until there is room for an event. Ends the wait for the turn if the consumer takes no more events. */
    private synchronized void awaitRoom() {
        try {
            while (waiting.size() >= MOST_WAITING && !closed) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            closed = true;
        }
        if (closed) {
            throw new IllegalStateException("the subscriber has stopped reading the events of this turn");
        }
    }
}
