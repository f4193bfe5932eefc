package dev.waymark.client.connection;

import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.conversation.Conversation;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.Projector;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.RunEnding;
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
public final class MomentStream implements AutoCloseable {
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
    /** The pause before the in-memory server is polled again; at first, there is none. */
    private long pollMillis;

    private boolean closed;
    private boolean reset;
    private Optional<WaitDeadline> awayUntil = Optional.empty();
    private Optional<CompletableFuture<HistoryReader.Polled>> asked = Optional.empty();
    private CompletableFuture<?> closing = CompletableFuture.completedFuture(null);

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
        if (waitMillis > 0) {
            Sleeper.until(Sleeper.first(waitMillis, ask()));
            return take();
        }
        try {
            if (projector.ending().isEmpty()) {
                histories.catchUp(thread, projector);
            } else if (!closed) {
                follow(projector.ending().get());
            }
            awayUntil = Optional.empty();
        } catch (StatusRuntimeException e) {
            tolerate(e);
        }
        return handOver();
    }

    /** Reads new events. The in-memory server is polled less often while nothing happens. */
    private void catchUpInMemory() {
        long before = projector.lastEventId();
        histories.catchUp(thread, projector);
        pollMillis = projector.lastEventId() > before
                ? SHORTEST_POLL_MILLIS
                : Math.max(SHORTEST_POLL_MILLIS, Math.min(LONGEST_POLL_MILLIS, pollMillis * 5 / 4));
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
        close();
        asked = Optional.empty();
        following = new HistoryReader.Following();
        pollMillis = 0;
    }

    /**
     * Tolerates a long poll that ends without events, an outdated page token, and for a limited time a server that is
     * restarting or too busy. Returns the milliseconds until the next request. Throws the failure otherwise.
     */
    private long tolerate(StatusRuntimeException e) {
        ServerAnswer answer = ServerAnswer.of(e);
        if (answer == ServerAnswer.LATE) {
            return LONGEST_POLL_MILLIS;
        }
        boolean isCrowded = answer == ServerAnswer.BUSY;
        boolean staleToken = answer == ServerAnswer.INVALID;
        if (awayUntil.isEmpty()) {
            awayUntil = Optional.of(WaitDeadline.after(isCrowded ? BusyServer.PATIENCE : SERVER_MAY_BE_AWAY));
        }
        if (!(staleToken || answer.mayPass()) || awayUntil.get().isPast()) {
            throw e;
        }
        if (isCrowded) {
            // The server limits the number of concurrent long polls.
            return BusyServer.pauseMillis();
        }
        following = new HistoryReader.Following();
        return LONGEST_POLL_MILLIS;
    }

    /**
     * Requests more events without waiting. When the returned future is done, even exceptionally, {@link #take} returns
     * the new moments. At most one request is pending at a time.
     */
    public CompletableFuture<?> ask() {
        if (asked.isEmpty() && (closed || projector.ending().isPresent())) {
            return CompletableFuture.completedFuture(null);
        }
        if (asked.isEmpty()) {
            closing.cancel(true);
            asked = Optional.of(
                    connection.isInMemory()
                            ? pause(pollMillis)
                            : histories.poll(thread, projector.runId(), following, LONG_POLL_MILLIS));
        }
        return asked.get();
    }

    /**
     * Requests the end of the run, for a run that ends with its turn, until the next {@link #ask}. Costs the server
     * less, because {@link #ask} is answered at every event. The future may be done earlier, and is never done if the
     * request fails.
     */
    public CompletableFuture<?> askForTheEnd() {
        boolean endsWithTurn = projector.state().filter(Conversation::once).isPresent()
                && projector.ending().isEmpty();
        if (!endsWithTurn || connection.isInMemory()) {
            return new CompletableFuture<>();
        }
        if (closing.isDone()) {
            closing = histories.pollForTheEnd(thread, projector.runId(), LONG_POLL_MILLIS);
        }
        return closing.handle((ended, failure) -> failure == null)
                .thenCompose(isEnd -> isEnd ? CompletableFuture.completedFuture(true) : new CompletableFuture<>());
    }

    /** Returns a request that is answered after this time, without events. */
    private static CompletableFuture<HistoryReader.Polled> pause(long millis) {
        return new CompletableFuture<HistoryReader.Polled>().completeOnTimeout(null, millis, TimeUnit.MILLISECONDS);
    }

    /** Returns the moments since the last call, without waiting for new ones. */
    public List<Moment> take() {
        try {
            if (takeAsked()) {
                awayUntil = Optional.empty();
            }
        } catch (StatusRuntimeException e) {
            asked = Optional.of(pause(tolerate(e)));
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
        if (asked.isEmpty() && !closed && projector.ending().isPresent()) {
            follow(projector.ending().get());
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

    /** Cancels the pending requests, which would otherwise stay open at the server. */
    @Override
    public void close() {
        asked.ifPresent(request -> request.cancel(true));
        closing.cancel(true);
    }

    /** Returns whether the thread has closed for good and all its moments were returned. */
    public boolean isClosed() {
        return closed && fresh.isEmpty();
    }

    /**
     * Returns whether a reset has replaced the run. A reset undoes a part of the run and reuses the numbers of its
     * facts.
     */
    public boolean wasReset() {
        return reset;
    }

    public Projector run() {
        return projector;
    }
}
