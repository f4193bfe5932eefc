package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.VerifiedSubject;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * A decision about a call that needed approval.
 *
 * @param edited whether the person changed the arguments
 * @param by the name that the decision states
 * @param stated whether only a checkpoint contains the decision; such a decision does not allow the call to run
 * @param verified the person who decided, if a server verified them
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record CallApproval(
        @JsonProperty("approved") boolean approved,
        @JsonProperty("edited") boolean edited,
        @JsonProperty("by") Optional<String> by,
        @JsonProperty("reason") Optional<String> reason,
        @JsonProperty("at") Instant at,
        @JsonProperty("signed") Optional<DecisionSignature> signed,

        @JsonProperty("stated") @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        boolean stated,

        @JsonProperty("verified") Optional<VerifiedSubject> verified) {
    /** An unsigned decision that was made in this thread, not read from a checkpoint. */
    public CallApproval(boolean approved, boolean edited, Optional<String> by, Optional<String> reason, Instant at) {
        this(approved, edited, by, reason, at, Optional.empty(), false, Optional.empty());
    }

    /** A decision that was made in this thread, not read from a checkpoint, with its signature if it must be signed. */
    public CallApproval(
            boolean approved,
            boolean edited,
            Optional<String> by,
            Optional<String> reason,
            Instant at,
            Optional<DecisionSignature> signed) {
        this(approved, edited, by, reason, at, signed, false, Optional.empty());
    }

    /** An approval that only a checkpoint states. */
    public static CallApproval recorded(boolean edited, Instant at) {
        return new CallApproval(
                true, edited, Optional.empty(), Optional.empty(), at, Optional.empty(), true, Optional.empty());
    }

    public CallApproval verifiedAs(Optional<VerifiedSubject> subject) {
        return new CallApproval(approved, edited, by, reason, at, signed, stated, subject);
    }

    @JsonCreator
    public CallApproval {
        verified = verified == null ? Optional.empty() : verified;
        signed = signed == null ? Optional.empty() : signed;
        by = by == null ? Optional.empty() : by;
        reason = reason == null ? Optional.empty() : reason;
        Objects.requireNonNull(at, "at");
    }
}
