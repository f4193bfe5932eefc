package dev.waymark.conversation.state;

import java.util.Objects;

/** Records about received messages: their ids, to detect repeated deliveries, and the signals that were ignored. */
public record Arrivals(SeenIds seen, IgnoredSignals ignored) {
    public static final Arrivals NONE = new Arrivals(SeenIds.NOTHING, IgnoredSignals.NOTHING);

    public Arrivals {
        Objects.requireNonNull(seen, "seen");
        Objects.requireNonNull(ignored, "ignored");
    }

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public SeenIds seen = Arrivals.this.seen;
        public IgnoredSignals ignored = Arrivals.this.ignored;

        /** Returns the original object if nothing was changed, so that the versions in a timeline share it. */
        public Arrivals done() {
            boolean isUnchanged = seen == Arrivals.this.seen && ignored == Arrivals.this.ignored;
            return isUnchanged ? Arrivals.this : new Arrivals(seen, ignored);
        }
    }
}
