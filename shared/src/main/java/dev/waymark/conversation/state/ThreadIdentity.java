package dev.waymark.conversation.state;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * The rules, times and origin of a thread, and whether it accepts more messages.
 *
 * @param rules the version of the rules under which the thread started
 * @param once whether the thread closes when its turn ends
 * @param full whether the thread is too large to accept more messages
 * @param updatedAt the time of the newest fact
 * @param origin what the thread stores about the thread or checkpoint that it continues
 */
public record ThreadIdentity(
        int rules,
        boolean once,
        Life life,
        boolean full,
        Instant createdAt,
        Instant updatedAt,
        Optional<Origin> origin) {
    /** The rules of the first release, which apply to a start input without a version. */
    public static final int FIRST_RULES = 11;

    /** The version of the rules for new threads. All versions since {@link #FIRST_RULES} keep working. */
    public static final int RULES = 11;

    /** Whether the thread continues. The names are stored. */
    public enum Life {
        @JsonProperty("open")
        OPEN,
        @JsonProperty("closing")
        CLOSING,
        @JsonProperty("cancelled")
        CANCELLED
    }

    public ThreadIdentity {
        Objects.requireNonNull(life, "life");
        Objects.requireNonNull(createdAt, "createdAt");
        Objects.requireNonNull(updatedAt, "updatedAt");
        UnknownRulesException.unlessKnown(rules);
    }

    public static ThreadIdentity begun(int rules, Instant at) {
        return new ThreadIdentity(rules, false, Life.OPEN, false, at, at, Optional.empty());
    }

    /** A mutable copy of this part, for applying a fact. */
    public final class Edit {
        public int rules = ThreadIdentity.this.rules;
        public boolean once = ThreadIdentity.this.once;
        public Life life = ThreadIdentity.this.life;
        public boolean full = ThreadIdentity.this.full;
        public Instant updatedAt = ThreadIdentity.this.updatedAt;
        public Optional<Origin> origin = ThreadIdentity.this.origin;

        public ThreadIdentity done() {
            return new ThreadIdentity(rules, once, life, full, createdAt, updatedAt, origin);
        }
    }
}
