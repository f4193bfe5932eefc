package dev.waymark.client.connection;

import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Lets only as many requests at a time pass to the server as it answers within seconds. If a crowd sent all of its
 * requests at once, a slow server would answer none of them in time, and would work for callers that have gone. Here they
 * wait in line without growing old.
 */
final class RequestGate {
    static final int FIRST = 64;
    static final int FEWEST = 8;
    private static final int MOST = 1_000;
    private static final Duration SLOW = Duration.ofSeconds(3);
    /** The time between two steps back: requests that are slow together say the same. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private static final long LOOK_MILLIS = 1_000;

    private final Permits permits = new Permits();
    private final LongSupplier nanos;
    private double limit = FIRST;
    private long narrowedAt;
    private volatile long answeredAt;

    RequestGate() {
        this(System::nanoTime);
    }

    RequestGate(LongSupplier nanos) {
        this.nanos = nanos;
        this.narrowedAt = nanos.getAsLong() - PAUSE.toNanos();
        this.answeredAt = nanos.getAsLong();
    }

    private static final class Permits extends Semaphore {
        private static final long serialVersionUID = 1;

        Permits() {
            super(FIRST, true);
        }

        void takeAway(int number) {
            reducePermits(number);
        }
    }

    /**
     * Sends a request in its turn.
     *
     * @throws io.grpc.StatusRuntimeException if the server has answered none of these requests for a long time
     */
    <T> T pass(Supplier<T> request) {
        await();
        long began = nanos.getAsLong();
        try {
            T answer = request.get();
            answeredAt = nanos.getAsLong();
            return answer;
        } finally {
            adjust(nanos.getAsLong() - began);
            permits.release();
        }
    }

    private void await() {
        long since = nanos.getAsLong();
        try {
            while (!permits.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                long silent = nanos.getAsLong() - Math.max(since, answeredAt);
                if (silent > BusyServer.PATIENCE.toNanos()) {
                    throw Status.DEADLINE_EXCEEDED
                            .withDescription("it has not answered the requests before this one")
                            .asRuntimeException();
                }
            }
        } catch (InterruptedException e) {
            throw Sleeper.interrupted(e);
        }
    }

    private synchronized void adjust(long took) {
        int before = limit();
        if (took <= SLOW.toNanos()) {
            limit = Math.min(MOST, limit + 1 / limit);
        } else if (nanos.getAsLong() - narrowedAt >= PAUSE.toNanos()) {
            narrowedAt = nanos.getAsLong();
            limit = Math.max(FEWEST, limit * 3 / 4);
        }
        int change = limit() - before;
        if (change > 0) {
            permits.release(change);
        } else {
            permits.takeAway(-change);
        }
    }

    /** The number of requests that may pass at a time. */
    synchronized int limit() {
        return (int) limit;
    }
}
