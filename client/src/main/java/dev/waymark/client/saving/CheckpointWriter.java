package dev.waymark.client.saving;

import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.SaverException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Writes the newest checkpoint of each thread to a saver, in a separate Java thread, so that callers do not wait. A
 * newer checkpoint replaces a waiting one of the same thread. Failed writes are retried.
 *
 * <p>Does not write again what the saver already has, for example from an earlier process. Thread-safe.
 */
public final class CheckpointWriter implements AutoCloseable {
    private static final long FIRST_RETRY_MILLIS = 200;
    private static final long LAST_RETRY_MILLIS = 10_000;
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final SaveOptions saving;
    private final Consumer<ThreadSnapshot> onSaved;
    private final Consumer<SaverException> onFailed;
    /**
     * What remains to be written for each thread, in the order of writing. Guarded by {@code this}, as are the
     * following fields.
     */
    private final Map<String, Place> places = new LinkedHashMap<>();

    private final Map<String, Long> toldAt = new HashMap<>();
    private int flushes;
    private boolean hurried;
    private boolean ended;
    /** Whether a Java thread is writing, which ends when there is nothing left to write. */
    private boolean running;

    /**
     * The functions run in the Java thread that writes, which waits for them.
     *
     * @param onSaved receives each version that the saver has stored
     * @param onFailed receives problems; those of one kind once, and again after ten minutes without them
     */
    public CheckpointWriter(SaveOptions saving, Consumer<ThreadSnapshot> onSaved, Consumer<SaverException> onFailed) {
        this.saving = saving;
        this.onSaved = onSaved;
        this.onFailed = onFailed;
    }

    public Duration flushTimeout() {
        return saving.flushTimeout();
    }

    /** What remains to be written for one thread. */
    private static final class Place {
        private Optional<ThreadSnapshot> waiting = Optional.empty();
        /** A state that is newer than {@code waiting} but is not a version. */
        private Optional<ThreadSnapshot> betweenVersions = Optional.empty();

        private boolean writing;
        /** Whether this writer wrote the saver's current checkpoint. Used only by the writer's Java thread. */
        private boolean known;

        private long cadenceAt = System.nanoTime();
        private long retryAt = cadenceAt;
        private int failures;
        /** Whether a retry would fail the same way. */
        private boolean hopeless;
        /** Whether no further checkpoints will be offered. */
        private boolean leaving;

        boolean hasWork() {
            return waiting.isPresent() || betweenVersions.isPresent();
        }

        boolean isBusy() {
            return writing || (hasWork() && !hopeless);
        }

        boolean isOver() {
            return leaving && !writing && !hasWork();
        }

        long dueAt(boolean atOnce) {
            return atOnce || cadenceAt - retryAt < 0 ? retryAt : cadenceAt;
        }
    }

    /** Offers the newest version of a thread. It replaces a version that is still waiting. */
    public synchronized void offer(ThreadSnapshot newest) {
        Place place = places.computeIfAbsent(newest.thread(), thread -> new Place());
        place.waiting = Optional.of(newest);
        place.betweenVersions = Optional.empty();
        expect(place);
    }

    /**
     * Offers the newest state of a thread, which is not a version. It does not replace a waiting version, and listeners
     * are not told.
     */
    synchronized void offerBetweenVersions(ThreadSnapshot newest) {
        Place place = places.computeIfAbsent(newest.thread(), thread -> new Place());
        place.betweenVersions = Optional.of(newest);
        expect(place);
    }

    private void expect(Place place) {
        place.hopeless = false;
        place.leaving = false;
        if (!running && !ended) {
            running = true;
            DaemonThreads.start("waymark-writer", this::write);
        }
        notifyAll();
    }

    /**
     * Announces that nothing more will be offered for this thread. Its waiting checkpoint is written regardless of the
     * save interval.
     */
    public synchronized void last(String thread) {
        places.computeIfPresent(thread, (id, place) -> {
            place.cadenceAt = System.nanoTime();
            place.leaving = true;
            return place.isOver() ? null : place;
        });
        notifyAll();
    }

    /** From now on, ignores the save interval. */
    public synchronized void hurry() {
        hurried = true;
        notifyAll();
    }

    /**
     * Writes all offered checkpoints now, and waits at most this long until they are written. Returns the threads whose
     * newest checkpoint is not saved.
     */
    public synchronized List<String> flush(Duration most) {
        WaitDeadline deadline = WaitDeadline.after(most);
        long now = System.nanoTime();
        places.values().forEach(place -> place.retryAt = now);
        flushes++;
        notifyAll();
        try {
            while (places.values().stream().anyMatch(Place::isBusy) && !deadline.isPast()) {
                wait(Math.max(1, deadline.millisLeft()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            flushes--;
        }
        return places.entrySet().stream()
                .filter(each -> each.getValue().writing || each.getValue().hasWork())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Returns whether the saver rejects the waiting checkpoint of this thread for good. */
    public synchronized boolean isRefused(String thread) {
        return Optional.ofNullable(places.get(thread))
                .filter(place -> place.hopeless && place.hasWork())
                .isPresent();
    }

    /** Stops writing, and drops the waiting checkpoints. */
    @Override
    public synchronized void close() {
        ended = true;
        notifyAll();
    }

    private record Work(ThreadSnapshot newest, boolean isVersion, Place place) {}

    private void write() {
        for (Optional<Work> next = next(); next.isPresent(); next = next()) {
            Work work = next.get();
            try {
                save(work);
                done(work);
            } catch (SaverException e) {
                failed(work, e);
            } catch (RuntimeException e) {
                // Savers of other programs may throw any exception.
                failed(work, SaverException.failed("the checkpoint can't be saved", work.newest.thread(), e));
            }
        }
    }

    private synchronized Optional<Work> next() {
        try {
            while (!ended && places.values().stream().anyMatch(Place::hasWork)) {
                long now = System.nanoTime();
                long soonest = now + TimeUnit.MINUTES.toNanos(1);
                for (Map.Entry<String, Place> each : places.entrySet()) {
                    Place place = each.getValue();
                    if (place.hasWork()) {
                        long due = place.dueAt(hurried || flushes > 0);
                        if (due - now <= 0) {
                            return Optional.of(begun(place));
                        }
                        soonest = due - soonest < 0 ? due : soonest;
                    }
                }
                wait(1 + TimeUnit.NANOSECONDS.toMillis(soonest - now));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        running = false;
        return Optional.empty();
    }

    private static Work begun(Place place) {
        boolean isVersion = place.waiting.isPresent();
        Work work = new Work(place.waiting.or(() -> place.betweenVersions).orElseThrow(), isVersion, place);
        if (isVersion) {
            place.waiting = Optional.empty();
        } else {
            place.betweenVersions = Optional.empty();
        }
        place.writing = true;
        return work;
    }

    private void save(Work work) {
        CheckpointEntry entry = CheckpointEntry.of(work.newest);
        if (!work.place.known) {
            switch (entry.compare(saving.saver())) {
                case EQUAL, NEWER -> {
                    // The saver has this version or a newer one: a reader of a long history sees past versions first.
                    return;
                }
                case FOREIGN ->
                    entry.objection(CheckpointEntry.Saved.FOREIGN).ifPresent(problem -> {
                        throw problem;
                    });
                case OLDER -> {
                    // The saver's version is replaced.
                }
            }
        }
        if (work.isVersion) {
            entry.write(saving.saver());
            onSaved.accept(work.newest);
        } else {
            entry.writeBetweenVersions(saving.saver());
        }
        work.place.known = true;
    }

    private synchronized void done(Work work) {
        Place place = work.place;
        place.failures = 0;
        place.cadenceAt = System.nanoTime() + saving.cadence().apart().toNanos();
        place.retryAt = System.nanoTime();
        leave(work);
    }

    /**
     * Ends the write. Moves the thread to the end of the queue, or removes it if nothing more will be written for it.
     */
    private void leave(Work work) {
        Place place = work.place;
        place.writing = false;
        places.remove(work.newest.thread());
        if (!place.isOver()) {
            places.put(work.newest.thread(), place);
        }
        notifyAll();
    }

    private void failed(Work work, SaverException problem) {
        boolean isNews;
        synchronized (this) {
            isNews = isNews(problem);
        }
        if (isNews) {
            // The listener comes first: a caller that waits for the thread to count as not saved may end the program.
            onFailed.accept(problem);
        }
        synchronized (this) {
            Place place = work.place;
            boolean isNewest = place.waiting.isEmpty() && (work.isVersion || place.betweenVersions.isEmpty());
            if (isNewest) {
                if (work.isVersion) {
                    place.waiting = Optional.of(work.newest);
                } else {
                    place.betweenVersions = Optional.of(work.newest);
                }
                place.hopeless = !problem.type().equals(ProblemType.SAVER_FAILED);
            }
            place.failures++;
            long backOff = FIRST_RETRY_MILLIS << Math.min(10, place.failures - 1);
            long most = flushes > 0 ? FIRST_RETRY_MILLIS : LAST_RETRY_MILLIS;
            place.retryAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(most, backOff));
            leave(work);
        }
    }

    private boolean isNews(SaverException problem) {
        long now = System.nanoTime();
        Long before = toldAt.put(kind(problem), now);
        return before == null || now - before > QUIET_NANOS;
    }

    /**
     * Groups problems for reporting: an outage is one problem for all threads and files, and each corrupt entry is a
     * separate problem.
     */
    private static String kind(SaverException problem) {
        Throwable cause = problem.getCause();
        if (!problem.type().equals(ProblemType.SAVER_FAILED) || cause == null) {
            return problem.type() + problem.getMessage();
        }
        return cause.getClass().getName() + (cause instanceof SQLException sql ? sql.getSQLState() : "");
    }
}
