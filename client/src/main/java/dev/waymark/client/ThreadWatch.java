package dev.waymark.client;

import dev.waymark.client.connection.ServerFailures;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.timeline.Moment;
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

    /**
     * An event of the thread.
     *
     * @param id with which another watch can continue after this event; empty if none can
     */
    public record Item(Optional<String> id, ThreadEvent event) {}

    private final Executor executor;
    private final ThreadFeed feed;
    private final LiveText words;
    private final MomentEvents moments;
    private final ServerFailures failures;
    private final Optional<WatchPosition> after;

    private List<Item> fresh = new ArrayList<>();
    /** How many moments of the feed were reported. */
    private int position;

    private ThreadFeed.Unseen seen;
    private volatile boolean isClosed;
    /** Whether events are skipped, because the position from which this watch continues is not reached yet. */
    private boolean skipping;

    private boolean reached;
    private Optional<Moment> last = Optional.empty();
    private String lastId = "";

    /** The status according to the returned events; empty if it is that of the last moment. */
    private Optional<ThreadEvent.StatusChanged> told = Optional.empty();

    /** The status that the thread will have when a worker has recorded all events up to {@link #foreseenAt}. */
    private Optional<ThreadEvent.StatusChanged> foreseen = Optional.empty();

    private long foreseenAt;
    private Optional<WaitDeadline> foreseenDue = Optional.empty();

    private ThreadWatch(ClientContext context, ThreadFeed feed, Optional<WatchPosition> after, Executor executor) {
        this.executor = executor;
        this.feed = feed;
        this.after = after;
        this.seen = feed.from(0, 0);
        this.words = context.liveText(feed.thread());
        this.moments = new MomentEvents(feed.thread(), feed.isCut());
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
                watch.add(new ThreadEvent.Restarted());
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
    public CompletableFuture<List<Item>> next(Duration most) {
        return lookUntil(System.nanoTime() + most.toNanos());
    }

    private CompletableFuture<List<Item>> lookUntil(long nanos) {
        return CompletableFuture.supplyAsync(() -> failures.translated(this::look), executor)
                .thenCompose(events -> {
                    long left = TimeUnit.NANOSECONDS.toMillis(nanos - System.nanoTime());
                    return !events.isEmpty() || isOver() || isClosed || left <= 0
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

    private List<Item> look() {
        seen = feed.from(position, MOMENTS_AT_ONCE);
        List<Moment> next = seen.moments();
        position += next.size();
        next.forEach(this::tell);
        if (!skipping && seen.isLast()) {
            words.tell(this::addPiece);
        }
        if (seen.isLast()) {
            foresee(!next.isEmpty());
        }
        moments.of(seen.absence()).ifPresent(this::add);
        List<Item> events = fresh;
        fresh = new ArrayList<>();
        return events;
    }

    /**
     * Reports a status that differs from the one according to the events, if no worker records it for a while. The next
     * moment replaces it.
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
        Optional<ThreadEvent.StatusChanged> known =
                told.or(() -> last.map(moment -> ThreadEvent.StatusChanged.to(moment.state())));
        if (skipping || known.isEmpty() || foreseen.isEmpty() || foreseen.equals(known)) {
            foreseenDue = Optional.empty();
        } else if (foreseenDue.isEmpty()) {
            foreseenDue = Optional.of(WaitDeadline.after(RECORDING));
        } else if (foreseenDue.get().isPast()) {
            add(foreseen.get());
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
            add(new ThreadEvent.Restarted());
        }
        boolean isLast = after.filter(place -> place.isOf(moment)).isPresent();
        if (reached && !isLast) {
            skipping = false; // The last received event is not among the events of this watch.
        }
        reached |= isLast;
        words.follow(moment);
        last = Optional.of(moment);
        List<ThreadEvent> events = moments.of(moment);
        for (int i = 0; i < events.size(); i++) {
            lastId = WatchPosition.of(moment, i);
            addUnlessReceived(events.get(i));
        }
    }

    private void addUnlessReceived(ThreadEvent event) {
        if (!skipping) {
            fresh.add(new Item(Optional.of(lastId), event));
        } else if (after.orElseThrow().event().equals(lastId)) {
            skipping = false;
            after.get().words().ifPresent(words::resume);
        }
    }

    private void addPiece(ThreadEvent event) {
        fresh.add(
                event instanceof ThreadEvent.CallsRunning
                        ? new Item(Optional.empty(), event)
                        : new Item(Optional.of(WatchPosition.of(lastId, words.heard())), event));
    }

    private void add(ThreadEvent event) {
        fresh.add(new Item(Optional.empty(), event));
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
}
