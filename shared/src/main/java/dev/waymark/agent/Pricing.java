package dev.waymark.agent;

import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.util.Objects;
import java.util.Optional;

/**
 * The price of a model, in US dollars per million tokens.
 *
 * @param cacheRead the price of input read from the provider's cache; {@code input} by default
 * @param cacheWrite the price of input written to the provider's cache; {@code input} by default
 * @param above the prices of a call with a longer prompt, if they differ
 */
public record Pricing(Usd input, Usd output, Optional<Usd> cacheRead, Optional<Usd> cacheWrite, Optional<Tier> above) {
    /** All tokens are free. */
    public static final Pricing FREE = of("0", "0");

    private static final int MILLION_DIGITS = 6;

    /**
     * The prices of a whole call, if its prompt has more than this many tokens.
     *
     * @param tokens the number of tokens, cached ones included
     */
    public record Tier(int tokens, Pricing pricing) {
        public Tier {
            Objects.requireNonNull(pricing, "pricing");
        }
    }

    public Pricing {
        Objects.requireNonNull(input, "input");
        Objects.requireNonNull(output, "output");
    }

    /** The prices of input and output, in dollars per million tokens. Cached input costs as much as other input. */
    public static Pricing of(String input, String output) {
        return new Pricing(usd(input), usd(output), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /**
     * Adds other prices, in dollars per million tokens, for input that the provider reads from or writes to its cache.
     */
    public Pricing withCache(String read, String write) {
        return new Pricing(input, output, Optional.of(usd(read)), Optional.of(usd(write)), above);
    }

    /** The prices if the provider keeps its cache for an hour: writing to it costs twice the input. */
    public Pricing cachedForAnHour() {
        Usd twice = Usd.of(input.dollars().multiply(BigDecimal.valueOf(2)));
        return new Pricing(
                input,
                output,
                cacheRead,
                Optional.of(twice),
                above.map(tier -> new Tier(tier.tokens(), tier.pricing().cachedForAnHour())));
    }

    /** The price of a call that used these tokens. */
    public Usd of(Usage usage) {
        if (above.isPresent() && usage.inputTokens() > above.get().tokens()) {
            return above.get().pricing().of(usage);
        }
        long cached = usage.cacheReadTokens() + usage.cacheWriteTokens();
        BigDecimal dollars = times(input, Math.max(0, usage.inputTokens() - cached))
                .add(times(cacheRead.orElse(input), usage.cacheReadTokens()))
                .add(times(cacheWrite.orElse(input), usage.cacheWriteTokens()))
                .add(times(output, usage.outputTokens()));
        return Usd.of(dollars.movePointLeft(MILLION_DIGITS));
    }

    private static BigDecimal times(Usd price, long tokens) {
        return price.dollars().multiply(BigDecimal.valueOf(tokens));
    }

    private static Usd usd(String dollars) {
        return Usd.of(new BigDecimal(dollars));
    }
}
