package dev.waymark.worker.metrics;

import dev.waymark.conversation.value.Spent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.Supplier;

/** Counts and times the work of this worker's activities. */
public final class AttemptMetrics {
    private final MeterRegistry registry;
    private final SpendingCounters spending;

    public AttemptMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.spending = new SpendingCounters(registry);
        claims(true);
        claims(false);
    }

    /** Records the time from the start of a model call's attempt to the first word of its reply. */
    public void firstWord(String model, Duration after) {
        Timer.builder("waymark.model.first.word")
                .description("Time from the start of an attempt to the first word of the reply")
                .tag("model", model)
                .register(registry)
                .record(after);
    }

    /** Counts a failed attempt of a model call, by the type of its failure. */
    public void failedAttempt(String model, String type) {
        Counter.builder("waymark.model.failed.attempts")
                .description("Attempts of model calls that failed")
                .tags("model", model, "type", type)
                .register(registry)
                .increment();
    }

    /** Counts the tokens and the cost of an attempt that ended without a reply. */
    public void wasted(String model, Spent spent) {
        spending.count(model, spent);
    }

    /** Times the projection of a thread's state from its history. */
    public <T> T projection(Supplier<T> reading) {
        return Timer.builder("waymark.projection")
                .description("Time to compute a thread's state from its history")
                .register(registry)
                .record(reading);
    }

    /** Counts an attempt to notify a receiver. */
    public void announced(String receiver, String event, boolean received) {
        Counter.builder("waymark.announcements")
                .description("Attempts to tell receivers")
                .tags("receiver", receiver, "event", event, "outcome", received ? "received" : "failed")
                .register(registry)
                .increment();
    }

    /** Counts a claim, as granted or as refused. */
    public void claim(boolean granted) {
        claims(granted).increment();
    }

    private Counter claims(boolean granted) {
        return Counter.builder("waymark.claims")
                .description("Claims of side-effecting calls")
                .tag("outcome", granted ? "granted" : "refused")
                .register(registry);
    }
}
