package dev.waymark.client.connection;

import dev.waymark.connect.ServerAnswer;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Limits concurrent requests to as many as the server answers within seconds. If all callers sent their requests at
 * once, a slow server would answer none in time, and would work for callers that have given up. While a request waits
 * in line here, its timeout does not run.
 */
final class RequestGate {
    static final int FIRST = 64;
    static final int FEWEST = 8;
    private static final int MOST = 1_000;
    private static final Duration SLOW = Duration.ofSeconds(3);
    /** The minimum time between two reductions of the limit, since concurrent requests are slow for one reason. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final LongSupplier nanos;
    /** How often a request in line checks its deadline, and whether the server still answers. */
    private final Duration look;

    private final Queue<CompletableFuture<Boolean>> line = new ArrayDeque<>();
    private int inside;
    private double limit = FIRST;
    private long narrowedAt;
    private long answeredAt;

    RequestGate() {
        this(System::nanoTime, Duration.ofSeconds(1));
    }

    RequestGate(LongSupplier nanos, Duration look) {
        this.nanos = nanos;
        this.look = look;
        this.answeredAt = nanos.getAsLong();
        this.narrowedAt = answeredAt - PAUSE.toNanos();
    }

    /**
     * Sends a request in its turn.
     *
     * @throws StatusRuntimeException if the deadline passes before its turn, or the server has answered none of these
     *     requests for a long time
     */
    <T> T pass(Supplier<T> request, WaitDeadline deadline) {
        await(deadline);
        long began = nanos.getAsLong();
        boolean answered = true;
        boolean succeeded = false;
        try {
            T answer = request.get();
            succeeded = true;
            return answer;
        } catch (RuntimeException e) {
            answered = isAnswer(e);
            throw e;
        } finally {
            leave(nanos.getAsLong() - began, answered, succeeded);
        }
    }

    private static boolean isAnswer(RuntimeException failure) {
        return Stream.<Throwable>iterate(failure, each -> each != null, Throwable::getCause)
                .filter(StatusRuntimeException.class::isInstance)
                .map(each -> ServerAnswer.of((StatusRuntimeException) each))
                .noneMatch(answer -> answer == ServerAnswer.LATE || answer == ServerAnswer.UNREACHABLE);
    }

    private void await(WaitDeadline deadline) {
        long since = nanos.getAsLong();
        CompletableFuture<Boolean> turn = new CompletableFuture<>();
        synchronized (this) {
            line.add(turn);
            admit();
        }
        try {
            while (!turn.isDone()) {
                Optional<String> timeoutReason = timeoutReason(since, deadline);
                if (timeoutReason.isPresent() && leaveLine(turn)) {
                    throw Status.DEADLINE_EXCEEDED
                            .withDescription(timeoutReason.get())
                            .asRuntimeException();
                }
                look(turn, Math.min(look.toMillis(), Math.max(1, deadline.millisLeft())));
            }
        } catch (InterruptedException e) {
            if (!leaveLine(turn)) {
                leave(0, false, false);
            }
            throw Sleeper.interrupted(e);
        }
    }

    private static void look(CompletableFuture<Boolean> turn, long millis) throws InterruptedException {
        try {
            turn.get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            // Not yet.
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private Optional<String> timeoutReason(long since, WaitDeadline deadline) {
        if (deadline.isPast()) {
            return Optional.of("the time was over before the turn of this request");
        }
        synchronized (this) {
            boolean isSilent = nanos.getAsLong() - Math.max(since, answeredAt) > BusyServer.PATIENCE.toNanos();
            return isSilent ? Optional.of("it has not answered the requests before this one") : Optional.empty();
        }
    }

    /** Leaves the line. Returns false if the request has been admitted already. */
    private synchronized boolean leaveLine(CompletableFuture<Boolean> turn) {
        return line.remove(turn);
    }

    private synchronized void leave(long took, boolean answered, boolean succeeded) {
        long now = nanos.getAsLong();
        answeredAt = answered ? now : answeredAt;
        if (took > SLOW.toNanos()) {
            if (now - narrowedAt >= PAUSE.toNanos()) {
                narrowedAt = now;
                limit = Math.max(FEWEST, limit * 3 / 4);
            }
        } else if (succeeded && !line.isEmpty()) {
            limit = Math.min(MOST, limit + 1 / limit);
        }
        inside--;
        admit();
    }

    private synchronized void admit() {
        while (inside < (int) limit && !line.isEmpty()) {
            inside++;
            line.remove().complete(true);
        }
    }

    /** The number of requests in line. */
    synchronized int waiting() {
        return line.size();
    }

    /** The number of requests that may pass at a time. */
    synchronized int limit() {
        return (int) limit;
    }
}
