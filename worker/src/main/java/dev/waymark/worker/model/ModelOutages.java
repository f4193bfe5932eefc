package dev.waymark.worker.model;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * Remembers the models that this worker recently found out of service. Other threads and later steps then call a
 * fallback at once, instead of waiting for the same failures. Thread-safe.
 */
final class ModelOutages {
    private static final Duration REMEMBERED = Duration.ofMinutes(1);

    private final Map<String, Outage> byModel = new ConcurrentHashMap<>();
    private final LongSupplier nanoTime;
    private final UnaryOperator<String> name;

    /**
     * Times are in nanoseconds of the monotonic clock.
     *
     * @param until the time until which the model counts as out of service
     * @param wanted the end of the wait that the service requested, if any
     */
    private record Outage(long until, Optional<Long> wanted) {}

    /**
     * @param nanoTime a monotonic clock in nanoseconds
     * @param name the one name of a model that has several
     */
    ModelOutages(LongSupplier nanoTime, UnaryOperator<String> name) {
        this.nanoTime = nanoTime;
        this.name = name;
    }

    /** Records that the model is out of service, and the wait that its service requests. */
    void began(String model, Optional<Duration> wait) {
        long now = nanoTime.getAsLong();
        Optional<Long> wanted = wait.map(Duration::toNanos);
        long out = Math.max(REMEMBERED.toNanos(), wanted.orElse(0L));
        byModel.put(name.apply(model), new Outage(now + out, wanted.map(nanos -> now + nanos)));
    }

    /** Ends the outage, because the model has answered. */
    void ended(String model) {
        byModel.remove(name.apply(model));
    }

    /** Whether the model has had an outage and has not answered since. */
    boolean isDoubtful(String model) {
        return byModel.containsKey(name.apply(model));
    }

    /** Whether the model still counts as out of service. */
    boolean isOut(String model) {
        Outage outage = byModel.get(name.apply(model));
        return outage != null && outage.until() - nanoTime.getAsLong() > 0;
    }

    /** The rest of the wait that the model's service requested; empty if it requested none. */
    Optional<Duration> wait(String model) {
        return Optional.ofNullable(byModel.get(name.apply(model)))
                .flatMap(Outage::wanted)
                .map(wanted -> Duration.ofNanos(Math.max(0, wanted - nanoTime.getAsLong())));
    }
}
