package dev.waymark.worker.model.http;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import okhttp3.Headers;
import org.jspecify.annotations.Nullable;

/** The wait before a retry that a provider requests. */
final class RetryAfter {
    private static final String HEADER = "Retry-After";
    private static final String MILLIS_HEADER = "Retry-After-Ms";

    /** Limit for values that are probably in another unit. */
    private static final Duration LONGEST = Duration.ofDays(1);

    private RetryAfter() {}

    /** Empty if there is no reason to wait; Temporal's growing retry intervals apply then. */
    static Optional<Duration> of(Headers headers, Instant now) {
        return number(headers.get(MILLIS_HEADER))
                .or(() -> number(headers.get(HEADER)).map(seconds -> seconds * 1_000))
                .map(millis -> Duration.ofMillis(Math.round(Math.min(millis, LONGEST.toMillis()))))
                .or(() -> date(headers, now))
                .filter(wait -> !wait.isZero() && !wait.isNegative())
                .map(wait -> wait.compareTo(LONGEST) > 0 ? LONGEST : wait);
    }

    private static Optional<Double> number(@Nullable String text) {
        try {
            return Optional.ofNullable(text).map(Double::valueOf).filter(Double::isFinite);
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Uses the provider's clock, if the response has a {@code Date}. */
    private static Optional<Duration> date(Headers headers, Instant now) {
        Instant theirs = Optional.ofNullable(headers.getInstant("Date")).orElse(now);
        return Optional.ofNullable(headers.getInstant(HEADER)).map(then -> Duration.between(theirs, then));
    }
}
