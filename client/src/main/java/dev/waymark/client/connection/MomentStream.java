package dev.waymark.client.connection;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.Moment;
import dev.waymark.history.Projector;
import dev.waymark.history.RunEnding;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * A thread's moments from the start of a run, as they happen. Continues across continue-as-new, resets, and outages of
 * the server. Not thread-safe.
 */
public final class MomentStream {
    private static final long LONG_POLL_MILLIS = 20_000;
    private static final long SHORTEST_POLL_MILLIS = 50;
    private static final long LONGEST_POLL_MILLIS = 200;
    public static final Duration SERVER_MAY_BE_AWAY = Duration.ofSeconds(10);

    private final Connection connection;
    private final HistoryReader histories;
    private final String thread;

    private List<Moment> fresh = new ArrayList<>();
    private Projector projector;
    private HistoryReader.Following following = new HistoryReader.Following();
    private long pollMillis = SHORTEST_POLL_MILLIS;
    private boolean closed;
    private boolean reset;
    private Optional<WaitDeadline> awayUntil = Optional.empty();
    private Optional<CompletableFuture<HistoryReader.Polled>> asked = Optional.empty();

    public MomentStream(Connection connection, HistoryReader histories, String thread, String runId) {
        this.connection = connection;
        this.histories = histories;
        this.thread = thread;
        this.projector = new Projector(runId, moment -> fresh.add(moment));
    }

    /**
     * Returns the moments since the last call. Waits at most this long for the next events and may return none. With 0,
     * does not wait, and returns all moments so far.
     */
    public List<Moment> next(long waitMillis) {
        if (!closed) {
            WaitDeadline deadline = WaitDeadline.after(Duration.ofMillis(waitMillis));
            try {
                read(deadline, waitMillis == 0);
                awayUntil = Optional.empty();
            } catch (StatusRuntimeException e) {
                bear(e, deadline);
            }
        }
        return handOver();
    }

    private void read(WaitDeadline deadline, boolean atOnce) {
        if (projector.ending().isPresent()) {
            follow(projector.ending().get());
            return;
        }
        if (atOnce) {
            histories.catchUp(thread, projector);
        } else if (connection.isInMemory()) {
            if (!catchUpInMemory()) {
                Sleeper.millis(Math.min(pollMillis, deadline.millisLeft()));
            }
        } else {
            histories.awaitMore(
                    thread, projector, following, Math.max(1, Math.min(LONG_POLL_MILLIS, deadline.millisLeft())));
        }
    }

    /** Returns whether there were new events. The in-memory server is polled less often while nothing happens. */
    private boolean catchUpInMemory() {
        long before = projector.lastEventId();
        histories.catchUp(thread, projector);
        boolean more = projector.lastEventId() > before;
        pollMillis = more ? SHORTEST_POLL_MILLIS : Math.min(LONGEST_POLL_MILLIS, pollMillis * 5 / 4);
        return more;
    }

    private List<Moment> handOver() {
        List<Moment> moments = fresh;
        fresh = new ArrayList<>();
        return moments;
    }

    private void follow(RunEnding ending) {
        Optional<String> next = histories.successor(thread, projector.runId(), ending);
        if (next.isEmpty()) {
            closed = true;
            return;
        }
        reset |= ending.kind() == RunEnding.Kind.TERMINATED;
        projector = new Projector(next.get(), moment -> fresh.add(moment));
        following = new HistoryReader.Following();
        pollMillis = SHORTEST_POLL_MILLIS;
    }

    /**
     * Tolerates a long poll that ends without events, an outdated page token, and for a limited time a server that is
     * restarting or too busy. Throws the failure otherwise.
     */
    private void bear(StatusRuntimeException e, WaitDeadline deadline) {
        ServerAnswer answer = ServerAnswer.of(e);
        if (answer == ServerAnswer.LATE) {
            Sleeper.millis(Math.min(LONGEST_POLL_MILLIS, deadline.millisLeft()));
            return;
        }
        boolean isCrowded = answer == ServerAnswer.BUSY;
        boolean staleToken = answer == ServerAnswer.INVALID;
        if (awayUntil.isEmpty()) {
            awayUntil = Optional.of(WaitDeadline.after(isCrowded ? BusyServer.PATIENCE : SERVER_MAY_BE_AWAY));
        }
        if (!(staleToken || answer.mayPass()) || awayUntil.get().isPast()) {
            throw e;
        }
        long pause = LONGEST_POLL_MILLIS;
        if (isCrowded) {
            // The server does not allow so many waiting callers at a time.
            pause = BusyServer.pauseMillis();
        } else {
            following = new HistoryReader.Following();
        }
        Sleeper.millis(Math.min(pause, deadline.millisLeft()));
    }

    /**
     * Requests more events without waiting. When the returned future is done, even exceptionally, {@link #take} returns
     * the new moments. At most one request is pending at a time.
     */
    public CompletableFuture<?> ask() {
        if (closed || projector.ending().isPresent()) {
            return CompletableFuture.completedFuture(null);
        }
        if (asked.isEmpty()) {
            asked = Optional.of(
                    connection.isInMemory()
                            ? new CompletableFuture<HistoryReader.Polled>()
                                    .completeOnTimeout(null, pollMillis, TimeUnit.MILLISECONDS)
                            : histories.poll(thread, projector.runId(), following, LONG_POLL_MILLIS));
        }
        return asked.get();
    }

    /** Returns the moments since the last call, without waiting for new ones. */
    public List<Moment> take() {
        try {
            if (takeAsked()) {
                awayUntil = Optional.empty();
            }
        } catch (StatusRuntimeException e) {
            bear(e, WaitDeadline.after(Duration.ZERO));
            asked = Optional.of(new CompletableFuture<HistoryReader.Polled>()
                    .completeOnTimeout(null, LONGEST_POLL_MILLIS, TimeUnit.MILLISECONDS));
        }
        return handOver();
    }

    /** Reads the response to the pending request, if it has arrived. Returns whether the server answered. */
    private boolean takeAsked() {
        boolean answered = false;
        Optional<CompletableFuture<HistoryReader.Polled>> done = asked.filter(CompletableFuture::isDone);
        if (done.isPresent()) {
            asked = Optional.empty();
            Optional<HistoryReader.Polled> polled = answer(done.get());
            if (polled.isPresent()) {
                histories.take(thread, projector, following, polled.get());
                answered = true;
            } else if (connection.isInMemory()) {
                catchUpInMemory();
                answered = true;
            }
        }
        if (!closed && projector.ending().isPresent()) {
            follow(projector.ending().get());
            asked = Optional.empty();
        }
        return answered;
    }

    /** Returns the response of the server; empty if no request was sent and only a pause has passed. */
    private static Optional<HistoryReader.Polled> answer(CompletableFuture<HistoryReader.Polled> done) {
        try {
            return Optional.ofNullable(done.join());
        } catch (CompletionException e) {
            throw e.getCause() instanceof StatusRuntimeException cause ? cause : e;
        }
    }

    /** Cancels the pending request. */
    public void cancel() {
        asked.ifPresent(request -> request.cancel(true));
    }

    /** Returns whether the thread has closed for good and all its moments were returned. */
    public boolean isClosed() {
        return closed && fresh.isEmpty();
    }

    /** Returns whether a reset has replaced the run. A reset undoes a part of the run and numbers facts anew. */
    public boolean wasReset() {
        return reset;
    }

    /** Returns the projection of the run that is being read. */
    public Projector run() {
        return projector;
    }
}
