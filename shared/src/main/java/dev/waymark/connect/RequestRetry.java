package dev.waymark.connect;

import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Repeats a request to a Temporal server while it fails in a way that may pass, for a limited time.
 *
 * @param longest how long to repeat it
 * @param passing the failures after which it is repeated
 * @param pause the pause before each repetition
 */
public record RequestRetry(Duration longest, Predicate<ServerAnswer> passing, Supplier<Duration> pause) {
    /** Repeats a request with equal pauses. */
    public static RequestRetry every(Duration pause, Duration longest, Predicate<ServerAnswer> passing) {
        return new RequestRetry(longest, passing, () -> pause);
    }

    /**
     * Sends the request until it succeeds.
     *
     * @param request receives the milliseconds that are left, at least 1
     * @throws StatusRuntimeException the last failure, if it will not pass or the time is up
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
