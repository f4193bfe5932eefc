package dev.waymark.agent;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * A model that answers while all models before it are out of service. Histories contain it, so fields are only ever
 * added.
 *
 * @param model as {@code provider:model}
 * @param options the options of this model; those of the agent's model do not apply
 * @param pricing the price of this model; by default, the price that its provider knows
 * @param silence the maximum time without any part of a reply; the limit of the agent's model does not apply
 */
public record FallbackModel(
        String model, Optional<ModelOptions> options, Optional<Pricing> pricing, Optional<Duration> silence) {
    public FallbackModel {
        Objects.requireNonNull(model, "model");
    }

    /** A model without options, with the price that its provider knows and the default {@code silence}. */
    public static FallbackModel of(String model) {
        return new FallbackModel(model, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** A copy with these options. */
    public FallbackModel with(ModelOptions chosen) {
        return new FallbackModel(model, Optional.of(chosen), pricing, silence);
    }

    /** A copy with this price. */
    public FallbackModel with(Pricing price) {
        return new FallbackModel(model, options, Optional.of(price), silence);
    }

    /** A copy with this maximum time without any part of a reply, from 1 second to 9 minutes. */
    public FallbackModel withSilence(Duration most) {
        return new FallbackModel(model, options, pricing, Optional.of(most));
    }
}
