package dev.waymark.connect;

import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Retries a request to a Temporal server after transient failures, for a limited time.
 *
 * @param longest how long to retry
 * @param passing the failures after which the request is retried
 * @param pause the pause before each retry
 */
public record RequestRetry(Duration longest, Predicate<ServerAnswer> passing, Supplier<Duration> pause) {
    /** Retries a request with equal pauses. */
    public static RequestRetry every(Duration pause, Duration longest, Predicate<ServerAnswer> passing) {
        return new RequestRetry(longest, passing, () -> pause);
    }

    /**
     * Sends the request until it succeeds.
     *
     * @param request receives the milliseconds that are left, at least 1
     * @throws StatusRuntimeException the last failure, if it is not transient or the time is up
     * @throws InterruptedException if the Java thread is interrupted; the server may have received the request
     */
    public <T> T send(LongFunction<T> request) throws InterruptedException {
        long deadline = System.nanoTime() + longest.toNanos();
        while (true) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            try {
                return request.apply(Math.max(1, left));
            } catch (StatusRuntimeException e) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("interrupted while waiting for the server");
                }
                left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0 || !passing.test(ServerAnswer.of(e))) {
                    throw e;
                }
            }
            Thread.sleep(Math.min(pause.get().toMillis(), left));
        }
    }
}
