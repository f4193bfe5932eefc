package dev.waymark.client;

import dev.waymark.client.connection.ServerFailures;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.watch.LiveText;
import dev.waymark.client.watch.RunningCalls;
import dev.waymark.client.watch.TextDelta;
import dev.waymark.client.watch.ThreadStatus;
import dev.waymark.client.watch.WatchEvent;
import dev.waymark.client.watch.WatchPosition;
import dev.waymark.client.watch.Watcher;
import dev.waymark.client.watch.WatcherNotifier;
import dev.waymark.history.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A live stream of a thread's events: each event of history, with an id, and the partial text of replies. The caller
 * requests the next events when it is ready for them, so a slow caller delays no one else. While nothing happens, no
 * Java thread is blocked. The watches of a thread that a client opens with one executor share what they read.
 *
 * <p>Ids depend only on the history. A watch that is opened with the id of the last event that was received, in this or
 * another process, continues right after that event. Not thread-safe: use it from one caller at a time.
 *
 * <pre>{@code
 * try (ThreadWatch watch = client.inspector().openWatch("trip", Optional.empty(), executor)) {
 *     while (!watch.isOver()) {
 *         watch.next(Duration.ofSeconds(15)).join().forEach(System.out::println);
 *     }
 * }
 * }</pre>
 */
public final class ThreadWatch implements AutoCloseable {
    /** Bounds the events that wait for a slow caller. */
    private static final int MOMENTS_AT_ONCE = 100;

    /** How long a worker may take to record what has happened before the watch reports the status that follows from it. */
    private static final Duration RECORDING = Duration.ofSeconds(1);

    private final Executor executor;
    private final ThreadFeed feed;
    private final LiveText words;
    private final Teller teller = new Teller();
    private final WatcherNotifier notifier;
    private final ServerFailures failures;
    private final Optional<WatchPosition> after;
    private final WatchPosition.Numbering numbering = new WatchPosition.Numbering();

    private List<WatchEvent> fresh = new ArrayList<>();
    /** How many moments of the feed were reported. */
    private int position;

    private ThreadFeed.Unseen seen;
    private boolean isClosed;
    /** Whether events are skipped, because the position from which this watch continues is not reached yet. */
    private boolean skipping;

    private boolean reached;
    private Optional<Moment> last = Optional.empty();
    private String lastId = "";

    /** The status that the returned events say; empty if it is that of the last moment. */
    private Optional<ThreadStatus> told = Optional.empty();

    /** The status that the thread will have when a worker has recorded all events up to {@link #foreseenAt}. */
    private Optional<ThreadStatus> foreseen = Optional.empty();

    private long foreseenAt;
    private Optional<WaitDeadline> foreseenDue = Optional.empty();

    private ThreadWatch(ClientContext context, ThreadFeed feed, Optional<WatchPosition> after, Executor executor) {
        this.executor = executor;
        this.feed = feed;
        this.after = after;
        this.seen = feed.from(0, 0);
        this.words = context.liveText(feed.thread());
        this.notifier = new WatcherNotifier(feed.thread(), feed.isCut(), teller);
        this.failures = context.failures();
    }

    static ThreadWatch open(ClientContext context, String thread, Optional<String> after, Executor executor) {
        ThreadFeed feed = context.feeds().open(context, thread, executor);
        try {
            Optional<WatchPosition> place = after.flatMap(WatchPosition::parse);
            ThreadWatch watch = new ThreadWatch(context, feed, place, executor);
            watch.skipping =
                    place.filter(position -> isHeld(context, feed, position)).isPresent();
            if (after.isPresent() && !watch.skipping) {
                watch.fresh.add(new WatchEvent.Restarted());
            }
            return watch;
        } catch (RuntimeException e) {
            feed.release();
            throw e;
        }
    }

    /**
     * Returns whether the thread's current history has the event at this position. The feed may not have it yet, if the
     * caller received it from another process.
     */
    private static boolean isHeld(ClientContext context, ThreadFeed feed, WatchPosition place) {
        return feed.holds(place)
                || context.read(feed.thread()).moments().stream().anyMatch(place::isOf);
    }

    /**
     * Completes with the next events as soon as there are any, a limited number at a time. Completes with an empty list
     * when the time is up or the watch is over.
     *
     * @throws WaymarkException from the future, if the server can't be read
     */
    public CompletableFuture<List<WatchEvent>> next(Duration most) {
        return lookUntil(System.nanoTime() + most.toNanos());
    }

    private CompletableFuture<List<WatchEvent>> lookUntil(long nanos) {
        return CompletableFuture.supplyAsync(() -> failures.translated(this::look), executor)
                .thenCompose(events -> {
                    long left = TimeUnit.NANOSECONDS.toMillis(nanos - System.nanoTime());
                    return !events.isEmpty() || isOver() || left <= 0
                            ? CompletableFuture.completedFuture(events)
                            : pause(left).thenCompose(woken -> lookUntil(nanos));
                });
    }

    /** Completes when there may be something new, or when the time is up. */
    private CompletableFuture<?> pause(long most) {
        if (!seen.isLast()) {
            return CompletableFuture.completedFuture(true);
        }
        CompletableFuture<?> answer = skipping ? new CompletableFuture<>() : words.ask();
        long toWords = skipping ? most : Math.max(1, words.millisToNext());
        long toStatus = foreseenDue.map(WaitDeadline::millisLeft).orElse(most);
        return Sleeper.first(Math.min(most, Math.min(toWords, toStatus)), feed.changedSince(seen.version()), answer);
    }

    private List<WatchEvent> look() {
        seen = feed.from(position, MOMENTS_AT_ONCE);
        List<Moment> next = seen.moments();
        position += next.size();
        next.forEach(this::tell);
        if (!skipping && seen.isLast()) {
            words.tell(teller);
        }
        if (seen.isLast()) {
            foresee(!next.isEmpty());
        }
        notifier.tell(seen.absence());
        List<WatchEvent> events = fresh;
        fresh = new ArrayList<>();
        return events;
    }

    /**
     * Reports a status that differs from the one that the events say, if no worker records it for a while. What is told
     * then ends with the next moment.
     */
    private void foresee(boolean hasMoved) {
        boolean isNews = hasMoved || seen.lastEventId() != foreseenAt;
        if (!isNews && foreseenDue.isEmpty()) {
            return;
        }
        if (hasMoved) {
            told = Optional.empty();
        }
        if (isNews) {
            foreseenAt = seen.lastEventId();
            foreseen = seen.foreseen();
        }
        Optional<ThreadStatus> known = told.or(() -> last.map(moment -> ThreadStatus.of(moment.state())));
        if (skipping || known.isEmpty() || foreseen.isEmpty() || foreseen.equals(known)) {
            foreseenDue = Optional.empty();
        } else if (foreseenDue.isEmpty()) {
            foreseenDue = Optional.of(WaitDeadline.after(RECORDING));
        } else if (foreseenDue.get().isPast()) {
            fresh.add(new WatchEvent.StatusChanged(foreseen.get()));
            told = foreseen;
            foreseenDue = Optional.empty();
        }
    }

    private void tell(Moment moment) {
        boolean wasReset = last.isPresent()
                && !last.get().runId().equals(moment.runId())
                && moment.fact().isPresent();
        if (wasReset) {
            skipping = false;
            fresh.add(new WatchEvent.Restarted());
        }
        boolean isLast = after.filter(place -> place.isOf(moment)).isPresent();
        if (reached && !isLast) {
            skipping = false; // The last received event is not among the events of this watch.
        }
        reached |= isLast;
        words.follow(moment);
        last = Optional.of(moment);
        notifier.tell(moment);
    }

    private String nextId() {
        lastId = numbering.next(last.orElseThrow());
        return lastId;
    }

    private void add(WatchEvent event) {
        if (!skipping) {
            fresh.add(event);
        } else if (after.orElseThrow().event().equals(lastId)) {
            skipping = false;
            after.get().words().ifPresent(words::resume);
        }
    }

    /** Whether the thread has closed and all events were returned. */
    public boolean isOver() {
        return seen.isOver() && fresh.isEmpty();
    }

    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            feed.release();
            words.cancel();
        }
    }

    /** Gives every event its id. */
    private final class Teller implements Watcher {
        @Override
        public boolean happened(Moment moment) {
            add(new WatchEvent.Happened(nextId(), moment));
            return true;
        }

        @Override
        public boolean saved(CheckpointSaved checkpoint) {
            add(new WatchEvent.Saved(nextId(), checkpoint));
            return true;
        }

        @Override
        public boolean loaded(CheckpointLoaded checkpoint) {
            add(new WatchEvent.Loaded(nextId(), checkpoint));
            return true;
        }

        @Override
        public boolean said(TextDelta delta) {
            fresh.add(new WatchEvent.Said(WatchPosition.of(lastId, words.heard()), delta));
            return true;
        }

        @Override
        public boolean reasoned(TextDelta delta) {
            fresh.add(new WatchEvent.Reasoned(WatchPosition.of(lastId, words.heard()), delta));
            return true;
        }

        @Override
        public boolean runs(RunningCalls calls) {
            fresh.add(new WatchEvent.CallsRunning(calls));
            return true;
        }

        @Override
        public boolean waitsForWorker(WaymarkException.NoWorker absence) {
            fresh.add(new WatchEvent.Unattended(absence));
            return true;
        }

        @Override
        public void workerIsBack() {
            fresh.add(new WatchEvent.Attended());
        }
    }
}
