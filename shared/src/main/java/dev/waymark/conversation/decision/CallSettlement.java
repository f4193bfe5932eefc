package dev.waymark.conversation.decision;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.VerifiedSubject;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A person's decision about a call with an unknown outcome.
 *
 * @param by the name that the decision states
 * @param verified the person who decided, if a server verified them
 * @param note what the person noted, as evidence; the model does not see it
 * @param signed the signature, if decisions must be signed
 */
public record CallSettlement(
        Outcome outcome,
        Optional<String> by,
        Optional<VerifiedSubject> verified,
        Optional<String> note,
        Instant at,
        Optional<DecisionSignature> signed) {
    /** What the person decided. The names are part of signals, stored, and shown to users. */
    public enum Outcome {
        /** The call took effect. */
        @JsonProperty("done")
        DONE("done"),
        /** The call did not take effect, and does not run again. */
        @JsonProperty("not-done")
        NOT_DONE("not-done"),
        /** The call did not take effect and should run again. */
        @JsonProperty("rerun")
        RERUN("rerun"),
        /** The outcome stays unknown. */
        @JsonProperty("give-up")
        GIVE_UP("give-up");

        private final String wireName;

        Outcome(String wireName) {
            this.wireName = wireName;
        }

        /** The name in commands and messages. */
        public String wireName() {
            return wireName;
        }

        /** Returns the outcome with this wire name, if there is one. */
        public static Optional<Outcome> named(String wireName) {
            return Arrays.stream(values())
                    .filter(outcome -> outcome.wireName.equals(wireName))
                    .findFirst();
        }

        /** All wire names, for messages to users. */
        public static String names() {
            return Arrays.stream(values()).map(Outcome::wireName).collect(Collectors.joining(", "));
        }
    }

    public CallSettlement {
        Objects.requireNonNull(outcome, "outcome");
        Objects.requireNonNull(at, "at");
    }

    /** A settlement that need not be signed. */
    public CallSettlement(
            Outcome outcome,
            Optional<String> by,
            Optional<VerifiedSubject> verified,
            Optional<String> note,
            Instant at) {
        this(outcome, by, verified, note, at, Optional.empty());
    }

    /** A copy for a deleted conversation, without texts and names. */
    public CallSettlement forgotten() {
        return new CallSettlement(outcome, Optional.empty(), Optional.empty(), Optional.empty(), at);
    }
}
