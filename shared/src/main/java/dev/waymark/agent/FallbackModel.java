package dev.waymark.agent;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;
import java.util.Optional;

/**
 * A model that answers while those before it are out of service. It is part of the agent, so fields are only ever added.
 *
 * @param model as {@code provider:model}
 * @param options its own options; those of the agent's model do not apply
 * @param pricing its price, if the provider does not know it or another one applies
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record FallbackModel(
        @JsonProperty("model") String model,
        @JsonProperty("options") Optional<ModelOptions> options,
        @JsonProperty("pricing") Optional<Pricing> pricing) {
    @JsonCreator
    public FallbackModel {
        Objects.requireNonNull(model, "model");
        options = options == null ? Optional.empty() : options;
        pricing = pricing == null ? Optional.empty() : pricing;
    }

    /** A model without options, at the price that its provider knows. */
    public static FallbackModel of(String model) {
        return new FallbackModel(model, Optional.empty(), Optional.empty());
    }

    /** A copy with these options. */
    public FallbackModel with(ModelOptions chosen) {
        return new FallbackModel(model, Optional.of(chosen), pricing);
    }

    /** A copy with this price. */
    public FallbackModel with(Pricing price) {
        return new FallbackModel(model, options, Optional.of(price));
    }
}
