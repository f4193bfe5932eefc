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

    /** Adds the spending. A cost that is known on one side only is the cost of the sum. */
    public Spent plus(Spent other) {
        return new Spent(
                usage.plus(other.usage),
                Stream.concat(cost.stream(), other.cost.stream()).reduce(Usd::plus));
    }

    /** The spending beyond the other. Amounts that would be negative are zero. */
    public Spent minus(Spent other) {
        return new Spent(usage.minus(other.usage), cost.map(all -> all.minus(other.cost.orElse(Usd.ZERO))));
    }

    /** Whether no tokens were used and no cost is known. */
    @JsonIgnore
    public boolean isNothing() {
        return equals(NOTHING);
    }
}
