package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;

/** What people and programs sent: the ids by which a second delivery is known, and what could not be used. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Arrivals(
        @JsonProperty("seen") SeenIds seen,
        @JsonProperty("ignored") IgnoredSignals ignored) {
    static final Arrivals NONE = new Arrivals(SeenIds.NOTHING, IgnoredSignals.NOTHING);

    public Arrivals {
        Objects.requireNonNull(seen, "seen");
        Objects.requireNonNull(ignored, "ignored");
    }

    /** The part while a fact changes it. */
    final class Edit {
        SeenIds seen = Arrivals.this.seen;
        IgnoredSignals ignored = Arrivals.this.ignored;

        Arrivals done() {
            return new Arrivals(seen, ignored);
        }
    }
}
