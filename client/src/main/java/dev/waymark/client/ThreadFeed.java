package dev.waymark.client;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitPolicy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The moments of a thread, read from the server once for all watches of the thread in this process. Keeps reading while
 * there are watches, and keeps the moments for watches that open later. Thread-safe.
 */
final class ThreadFeed {
    private final String thread;
    private final boolean cut;
    private final Executor executor;
    /** Runs when watches that open later must read the thread from the server. */
    private final Runnable outdated;

    /** Only one Java thread at a time uses these two. */
    private final MomentStream stream;

    private final WaitPolicy policy;

    private final List<Moment> moments = new ArrayList<>();
    private int watches;
    private long version;
    private boolean closed;
    private long lastEventId;
    private Optional<ThreadEvent.StatusChanged> foreseen = Optional.empty();
    private Optional<RuntimeException> failure = Optional.empty();
    private Optional<WaymarkException.NoWorker> absence = Optional.empty();
    private CompletableFuture<Void> change = new CompletableFuture<>();

    private ThreadFeed(ClientContext context, Timeline begin, Executor executor, Runnable outdated) {
        this.thread = begin.thread();
        this.cut = begin.cut();
        this.executor = executor;
        this.outdated = outdated;
        this.stream = context.moments(thread, begin.runId());
        this.policy = new WaitPolicy(context.requests(), thread, WaitDeadline.after(Optional.empty()));
        begin.moments().stream()
                .filter(moment -> !moment.runId().equals(begin.runId()))
                .forEach(moments::add);
        moments.addAll(stream.next(0));
    }

    static ThreadFeed open(ClientContext context, String thread, Executor executor, Runnable outdated) {
        ThreadFeed feed = new ThreadFeed(context, context.read(thread), executor, outdated);
        feed.happened(List.of(), Optional.empty(), Optional.empty());
        feed.goOn();
        return feed;
    }

    /**
     * The moments that a watch has not seen yet.
     *
     * @param moments the next moments; there may be more
     * @param isLast whether these are the newest moments
     * @param isOver whether the thread has closed, and these are its last moments
     * @param lastEventId the newest event of the run, which may be newer than the last moment
     * @param foreseen the status of the thread once a worker has recorded all events; empty if the run has ended
     * @param version the state of the feed, for {@link #changedSince}
     */
    record Unseen(
            List<Moment> moments,
            boolean isLast,
            boolean isOver,
            Optional<WaymarkException.NoWorker> absence,
            long lastEventId,
            Optional<ThreadEvent.StatusChanged> foreseen,
            long version) {}

    /** Returns at most {@code limit} moments from this index on. Throws if the server can no longer be read. */
    synchronized Unseen from(int index, int limit) {
        int end = Math.min(moments.size(), index + limit);
        boolean isLast = end == moments.size();
        if (isLast && failure.isPresent()) {
            throw failure.get();
        }
        return new Unseen(
                List.copyOf(moments.subList(index, end)),
                isLast,
                isLast && closed,
                absence,
                lastEventId,
                foreseen,
                version);
    }

    /** Completes once the feed has changed since this version. */
    synchronized CompletableFuture<Void> changedSince(long known) {
        return version == known ? change : CompletableFuture.completedFuture(null);
    }

    synchronized boolean holds(WatchPosition place) {
        return moments.stream().anyMatch(place::isOf);
    }

    String thread() {
        return thread;
    }

    /** Whether retention has deleted earlier runs of the thread. */
    boolean isCut() {
        return cut;
    }

    /** Adds a watch. Returns false if this feed no longer reads. */
    synchronized boolean retain() {
        if (watches < 0 || failure.isPresent()) {
            return false;
        }
        watches++;
        return true;
    }

    void release() {
        synchronized (this) {
            watches--;
            if (watches > 0) {
                return;
            }
            watches = -1;
        }
        outdated.run();
        stream.close();
    }

    private synchronized boolean reads() {
        return watches >= 0 && !closed && failure.isEmpty();
    }

    /** Reads again as soon as there may be something new. */
    private void goOn() {
        if (!reads()) {
            return;
        }
        Sleeper.first(policy.millis(), stream.ask(), policy.answer()).thenRunAsync(this::read, executor);
    }

    private void read() {
        if (!reads()) {
            return;
        }
        try {
            List<Moment> next = stream.take();
            if (stream.wasReset()) {
                outdated.run();
            }
            happened(next, policy.absence(stream), Optional.empty());
            goOn();
        } catch (RuntimeException e) {
            outdated.run();
            happened(List.of(), Optional.empty(), Optional.of(e));
        }
    }

    private void happened(
            List<Moment> next, Optional<WaymarkException.NoWorker> missing, Optional<RuntimeException> failed) {
        CompletableFuture<Void> changed;
        long newest = stream.run().lastEventId();
        Optional<ThreadEvent.StatusChanged> coming =
                newest == lastEventId || stream.run().ending().isPresent()
                        ? Optional.empty()
                        : stream.run().expectedState().map(ThreadEvent.StatusChanged::to);
        synchronized (this) {
            boolean isNew = !next.isEmpty()
                    || failed.isPresent()
                    || missing.isPresent() != absence.isPresent()
                    || newest != lastEventId
                    || stream.isClosed() != closed;
            if (newest != lastEventId) {
                foreseen = coming;
                lastEventId = newest;
            }
            moments.addAll(next);
            absence = missing;
            failure = failed;
            closed = stream.isClosed();
            if (!isNew) {
                return;
            }
            version++;
            changed = change;
            change = new CompletableFuture<>();
        }
        changed.complete(null);
    }
}
