package dev.waymark.worker.model;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The models that were out of service a short time ago, as this worker saw it. Other threads and later steps ask their
 * fallback at once, instead of waiting for the same failures. Thread-safe.
 */
final class ModelOutages {
    private static final Duration REMEMBERED = Duration.ofMinutes(1);

    private final Map<String, Outage> byModel = new ConcurrentHashMap<>();
    private final LongSupplier nanoTime;

    /**
     * @param until the end of the time in which the model is not asked
     * @param wanted the end of the time that the service asked to wait, if it did
     */
    private record Outage(long until, Optional<Long> wanted) {}

    /** @param nanoTime a monotonic clock */
    ModelOutages(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** The model failed, and its service asks to wait this long. */
    void began(String model, Optional<Duration> wait) {
        long now = nanoTime.getAsLong();
        Optional<Long> wanted = wait.map(Duration::toNanos);
        long out = Math.max(REMEMBERED.toNanos(), wanted.orElse(0L));
        byModel.put(model, new Outage(now + out, wanted.map(nanos -> now + nanos)));
    }

    /** The model answered. */
    void ended(String model) {
        byModel.remove(model);
    }

    /** Whether the model has not answered since its last outage. */
    boolean isDoubtful(String model) {
        return byModel.containsKey(model);
    }

    /** Whether the model failed a short time ago. */
    boolean isOut(String model) {
        Outage outage = byModel.get(model);
        return outage != null && outage.until() - nanoTime.getAsLong() > 0;
    }

    /** What is left of the time that the model's service asked to wait; empty if it asked for none. */
    Optional<Duration> wait(String model) {
        return Optional.ofNullable(byModel.get(model))
                .flatMap(Outage::wanted)
                .map(wanted -> Duration.ofNanos(Math.max(0, wanted - nanoTime.getAsLong())));
    }
}
