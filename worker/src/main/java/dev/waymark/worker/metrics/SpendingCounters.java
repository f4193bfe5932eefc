package dev.waymark.worker.metrics;

import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** Counts the tokens and the cost of model calls, by model. */
final class SpendingCounters {
    private final MeterRegistry registry;

    SpendingCounters(MeterRegistry registry) {
        this.registry = registry;
    }

    void count(String model, Spent spent) {
        Usage usage = spent.usage();
        tokens(model, "input", usage.inputTokens());
        tokens(model, "output", usage.outputTokens());
        tokens(model, "cache_read", usage.cacheReadTokens());
        tokens(model, "cache_write", usage.cacheWriteTokens());
        tokens(model, "reasoning", usage.reasoningTokens());
        spent.cost()
                .ifPresent(cost -> Counter.builder("waymark.model.cost.usd")
                        .description("Cost of model calls in US dollars")
                        .tag("model", model)
                        .register(registry)
                        .increment(cost.dollars().doubleValue()));
    }

    /** Adds to a counter. Type {@code input} includes cache tokens, and {@code output} includes {@code reasoning}. */
    private void tokens(String model, String type, long count) {
        if (count > 0) {
            Counter.builder("waymark.model.tokens")
                    .description("Tokens of model calls")
                    .tags("model", model, "type", type)
                    .register(registry)
                    .increment(count);
        }
    }
}
