package dev.waymark.client;

import dev.waymark.saver.SaverException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Writes the newest checkpoint of each thread into a saver, in a Java thread of its own: whoever offers one never waits.
 * One that is offered before an earlier one of its thread was begun takes that one's place. What fails is tried again.
 *
 * <p>What a saver has already, from an earlier process perhaps, is not written again. Thread-safe.
 */
final class CheckpointWriter implements AutoCloseable {
    private static final long FIRST_RETRY_MILLIS = 200;
    private static final long LAST_RETRY_MILLIS = 10_000;
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final SaveOptions saving;
    /** By thread, in the order in which they are served. Guarded by this, as all that follows. */
    private final Map<String, Place> places = new LinkedHashMap<>();

    private final Map<String, Long> toldAt = new HashMap<>();
    private int flushes;
    private boolean hurried;
    private boolean ended;

    CheckpointWriter(SaveOptions saving) {
        this.saving = saving;
        Thread writer = new Thread(this::write, "waymark-keeper");
        writer.setDaemon(true);
        writer.start();
    }

    /** What is known of one thread. */
    private static final class Place {
        private Optional<ThreadSnapshot> waiting = Optional.empty();
        /** Newer than {@code waiting}, and no version. */
        private Optional<ThreadSnapshot> betweenVersions = Optional.empty();

        private boolean writing;
        /** What the saver has of it is of this keeper. Only the writer looks at it. */
        private boolean known;

        private long cadenceAt = System.nanoTime();
        private long retryAt = cadenceAt;
        private int failures;
        /** It will not get better by itself. */
        private boolean hopeless;
        /** Nobody offers any more. */
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

    /** The newest of its thread. */
    synchronized void offer(ThreadSnapshot newest) {
        Place place = places.computeIfAbsent(newest.thread(), thread -> new Place());
        place.waiting = Optional.of(newest);
        place.betweenVersions = Optional.empty();
        expect(place);
    }

    /** The newest of its thread, which is no version: it takes the place of none, and nobody is told of it. */
    synchronized void offerBetweenVersions(ThreadSnapshot newest) {
        Place place = places.computeIfAbsent(newest.thread(), thread -> new Place());
        place.betweenVersions = Optional.of(newest);
        expect(place);
    }

    private void expect(Place place) {
        place.hopeless = false;
        place.leaving = false;
        notifyAll();
    }

    /** There will be no more of this thread: what waits of it is written now. */
    synchronized void last(String thread) {
        places.computeIfPresent(thread, (id, place) -> {
            place.cadenceAt = System.nanoTime();
            place.leaving = true;
            return place.isOver() ? null : place;
        });
        notifyAll();
    }

    /** From now on, what waits is written whatever the cadence says. */
    synchronized void hurry() {
        hurried = true;
        notifyAll();
    }

    /**
     * Waits until everything that was offered is saved, and at most this long. What the cadence would put off is written
     * now. Returns the threads whose newest is not saved.
     */
    synchronized List<String> flush(Duration most) {
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
                .filter(each ->
                        each.getValue().writing || each.getValue().hasWork())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Whether the saver refuses what waits of this thread: that would not get better with time. */
    synchronized boolean isRefused(String thread) {
        return Optional.ofNullable(places.get(thread))
                .filter(place -> place.hopeless && place.hasWork())
                .isPresent();
    }

    /** What waits is given up. */
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
                // Savers are written by others too.
                failed(work, SaverException.failed("the checkpoint can't be saved", work.newest.thread(), e));
            }
        }
    }

    private synchronized Optional<Work> next() {
        try {
            while (!ended) {
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
                    // Whoever begins to read a long history sees what it was before what it is.
                    return;
                }
                case FOREIGN ->
                    entry.objection(CheckpointEntry.Saved.FOREIGN).ifPresent(problem -> {
                        throw problem;
                    });
                case OLDER -> {
                    // It is replaced.
                }
            }
        }
        if (work.isVersion) {
            entry.write(saving.saver());
            saving.listener().saved(CheckpointSaved.of(work.newest.thread(), work.newest.moment()));
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

    /** What waits of the thread by now goes to the end of the line. */
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
            Place place = work.place;
            boolean isNewest = place.waiting.isEmpty() && (work.isVersion || place.betweenVersions.isEmpty());
            if (isNewest) {
                if (work.isVersion) {
                    place.waiting = Optional.of(work.newest);
                } else {
                    place.betweenVersions = Optional.of(work.newest);
                }
                place.hopeless = !problem.type().equals(SaverException.FAILED);
            }
            place.failures++;
            long backOff = FIRST_RETRY_MILLIS << Math.min(10, place.failures - 1);
            long most = flushes > 0 ? FIRST_RETRY_MILLIS : LAST_RETRY_MILLIS;
            place.retryAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.min(most, backOff));
            isNews = isNews(problem);
            leave(work);
        }
        if (isNews) {
            saving.listener().failed(problem);
        }
    }

    private boolean isNews(SaverException problem) {
        long now = System.nanoTime();
        Long before = toldAt.put(kind(problem), now);
        return before == null || now - before > QUIET_NANOS;
    }

    /** An outage is one problem, whatever threads and files it meets. A corrupt entry is one of its own. */
    private static String kind(SaverException problem) {
        Throwable cause = problem.getCause();
        if (!problem.type().equals(SaverException.FAILED) || cause == null) {
            return problem.type() + problem.getMessage();
        }
        return cause.getClass().getName() + (cause instanceof SQLException sql ? sql.getSQLState() : "");
    }
}
