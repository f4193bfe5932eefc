package dev.waymark.conversation.value;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Optional;
import java.util.stream.Stream;

/** The spending of model calls: tokens, and dollars as far as prices are known. */
public record Spent(Usage usage, Optional<Usd> cost) {
    /** No tokens, and no known cost. */
    public static final Spent NOTHING = new Spent(Usage.NONE, Optional.empty());

    public Spent {
        usage = usage == null ? Usage.NONE : usage;
    }

    /** Adds the spending. If only one cost is known, it is the cost of the sum. */
    public Spent plus(Spent other) {
        return new Spent(
                usage.plus(other.usage),
                Stream.concat(cost.stream(), other.cost.stream()).reduce(Usd::plus));
    }

    /** This spending minus the other. Negative amounts become zero. */
    public Spent minus(Spent other) {
        return new Spent(usage.minus(other.usage), cost.map(all -> all.minus(other.cost.orElse(Usd.ZERO))));
    }

    /** Whether no tokens were used and no cost is known. */
    @JsonIgnore
    public boolean isNothing() {
        return equals(NOTHING);
    }
}
