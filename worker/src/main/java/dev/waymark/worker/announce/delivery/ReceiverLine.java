package dev.waymark.worker.announce.delivery;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * Limits a worker to {@value #MOST_AT_ONCE} concurrent notices per receiver. Further notices get a place in line and
 * wait on the server. If they waited in the worker, hundreds of attempts for an unresponsive receiver would take the
 * slots of tools and models, and their heartbeats would delay everything else in their threads.
 */
final class ReceiverLine {
    static final int MOST_AT_ONCE = 8;

    /** Expected duration of a notice before the first one has ended. */
    private static final Duration FIRST_GUESS = Duration.ofMillis(100);

    /** The times at which the running notices began, oldest first. */
    private final Deque<Long> running = new ArrayDeque<>();

    private long last = FIRST_GUESS.toNanos();
    private Optional<Long> lastPlace = Optional.empty();

    /**
     * Asks to send a notice now.
     *
     * @param now the time in nanoseconds, of {@link System#nanoTime}
     * @return empty if the notice may be sent, and {@link #leave} must follow; otherwise how long to wait
     */
    synchronized Optional<Duration> enter(long now) {
        if (running.size() < MOST_AT_ONCE) {
            running.add(now);
            return Optional.empty();
        }
        // A receiver that has always answered quickly may have stopped answering.
        long each = Math.max(last, now - running.getFirst());
        long place = lastPlace.filter(before -> before - now > 0).orElse(now) + each / MOST_AT_ONCE;
        lastPlace = Optional.of(place);
        return Optional.of(Duration.ofNanos(place - now));
    }

    /** @param began the time at which the notice was let in */
    synchronized void leave(long began, long now) {
        running.removeFirstOccurrence(began);
        last = now - began;
    }
}
