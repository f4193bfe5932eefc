package dev.waymark.client.saving;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.directory.ThreadDirectory;
import dev.waymark.client.list.Progress;
import dev.waymark.client.save.SaveInterval;
import dev.waymark.connect.ServerAnswer;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Follows every thread of the server, including new ones. A closed thread is read once.
 *
 * <p>Polls, since a server limits the number of long polls: often for active threads, and less and less often for idle
 * ones, so that all idle threads together take at most about a hundred polls a second.
 */
public final class AllThreadsFollower implements SaveReader {
    private static final long LIST_EVERY_MILLIS = 1_000;
    private static final long SHORTEST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;
    private static final long PAUSE_FOR_EACH_MILLIS = 10;
    private static final int LOOKS_AT_ONCE = 64;

    /** How far each list overlaps the previous one: the list may lag behind, and the server's clock may differ. */
    private static final Duration MARGIN = Duration.ofMinutes(1);

    private final ThreadDirectory directory;
    private final Function<ThreadDirectory.Listed, MomentStream> feeds;
    private final CheckpointWriter writer;
    private final SaveInterval cadence;
    private final Map<String, Followed> followed = new LinkedHashMap<>();
    /** The last runs of closed threads that may be listed again. */
    private Map<String, String> closed = new HashMap<>();

    private Instant listSince = Instant.EPOCH;
    private long listAt = System.nanoTime();
    private Optional<WaitDeadline> awayUntil = Optional.empty();

    public AllThreadsFollower(
            ThreadDirectory directory,
            Function<ThreadDirectory.Listed, MomentStream> feeds,
            CheckpointWriter writer,
            SaveInterval cadence) {
        this.directory = directory;
        this.feeds = feeds;
        this.writer = writer;
        this.cadence = cadence;
    }

    @Override
    public boolean isOver() {
        return false;
    }

    @Override
    public long read() {
        if (listAt - System.nanoTime() <= 0) {
            listPatiently();
            listAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LIST_EVERY_MILLIS);
        }
        long now = System.nanoTime();
        look(followed.values().stream()
                .filter(each -> each.lookAt - now <= 0)
                .sorted(Comparator.comparing(each -> !each.listed.open()))
                .limit(LOOKS_AT_ONCE)
                .toList());
        long next = followed.values().stream()
                .mapToLong(each -> each.lookAt - System.nanoTime())
                .min()
                .orElse(Long.MAX_VALUE);
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(Math.min(next, listAt - System.nanoTime())));
    }

    @Override
    public void lookOnceMore() {
        list();
        look(List.copyOf(followed.values()));
    }

    @Override
    public void takePassedOver() {
        followed.values().forEach(each -> each.keeping.takePassedOver());
    }

    /** Tolerates a server that is restarting or cannot list threads for a moment. */
    private void listPatiently() {
        try {
            list();
            awayUntil = Optional.empty();
        } catch (StatusRuntimeException e) {
            WaitDeadline deadline = awayUntil.orElseGet(() -> WaitDeadline.after(MomentStream.SERVER_MAY_BE_AWAY));
            if (!ServerAnswer.of(e).mayPass() || deadline.isPast()) {
                throw e;
            }
            awayUntil = Optional.of(deadline);
        }
    }

    private void list() {
        Instant now = Instant.now();
        Map<String, String> stillListed = new HashMap<>();
        for (ThreadDirectory.Listed each : directory.threads(listSince)) {
            if (each.runId().equals(closed.get(each.thread()))) {
                stillListed.put(each.thread(), each.runId());
            } else {
                followed.computeIfAbsent(each.thread(), thread -> new Followed(each));
            }
        }
        closed = stillListed;
        listSince = now.minus(MARGIN);
    }

    private void look(List<Followed> some) {
        for (Followed gone : ThreadDirectory.each(some, Followed::look, Progress.NONE)) {
            followed.remove(gone.listed.thread());
            closed.put(gone.listed.thread(), gone.feed.run().runId());
        }
    }

    /** A thread, and when to read it next. */
    private final class Followed {
        private final ThreadDirectory.Listed listed;
        private final MomentStream feed;
        private final CheckpointFeeder keeping;
        private long lookAt = System.nanoTime();
        private long pauseMillis = SHORTEST_PAUSE_MILLIS;

        Followed(ThreadDirectory.Listed listed) {
            this.listed = listed;
            this.feed = feeds.apply(listed);
            this.keeping = new CheckpointFeeder(listed.thread(), writer, cadence);
        }

        /** Reads the thread. Returns this object if the thread has closed or was deleted; otherwise empty. */
        Optional<Followed> look() {
            long before = feed.run().lastEventId();
            try {
                keeping.take(feed, 0);
            } catch (StatusRuntimeException e) {
                if (ServerAnswer.GONE.is(e)) {
                    return over();
                }
                throw e;
            }
            if (feed.isClosed()) {
                return over();
            }
            boolean isQuiet = feed.run().lastEventId() == before;
            long longest = Math.max(LONGEST_PAUSE_MILLIS, PAUSE_FOR_EACH_MILLIS * followed.size());
            pauseMillis = isQuiet ? Math.min(longest, pauseMillis * 3 / 2) : SHORTEST_PAUSE_MILLIS;
            lookAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pauseMillis);
            return Optional.empty();
        }

        private Optional<Followed> over() {
            keeping.end();
            return Optional.of(this);
        }
    }
}
