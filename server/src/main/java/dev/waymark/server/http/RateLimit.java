package dev.waymark.server.http;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Limits the requests per second of each caller, and allows bursts (token bucket). Thread-safe. */
final class RateLimit {
    private static final int MOST_CALLERS = 10_000;

    private final double perSecond;
    private final double burst;
    private final Map<String, Bucket> buckets = new ConcurrentHashMap<>();

    RateLimit(double perSecond, double burst) {
        this.perSecond = perSecond;
        this.burst = burst;
    }

    private record Bucket(double tokens, long nanos) {}

    /** Counts a request. Returns false, and does not count the request, if the caller has reached the limit. */
    boolean take(String caller) {
        if (buckets.size() > MOST_CALLERS) {
            // A bucket that was idle this long is full again, like a new one.
            long idle = System.nanoTime() - (long) (burst / perSecond * 1e9);
            buckets.values().removeIf(bucket -> bucket.nanos() - idle < 0);
        }
        boolean[] taken = new boolean[1];
        buckets.compute(caller, (name, known) -> {
            long now = System.nanoTime();
            double tokens =
                    known == null ? burst : Math.min(burst, known.tokens() + (now - known.nanos()) / 1e9 * perSecond);
            taken[0] = tokens >= 1;
            return new Bucket(taken[0] ? tokens - 1 : tokens, now);
        });
        return taken[0];
    }
}
