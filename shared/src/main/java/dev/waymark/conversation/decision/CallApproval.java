package dev.waymark.conversation.decision;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.value.GrantTerms;
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
 * @param grant which later calls the approval also lets run, if any
 */
public record CallApproval(
        boolean approved,
        boolean edited,
        Optional<String> by,
        Optional<String> reason,
        Instant at,
        Optional<DecisionSignature> signed,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean stated,

        Optional<VerifiedSubject> verified,
        Optional<GrantTerms> grant) {
    /** An unsigned decision that was made in this thread, not read from a checkpoint. */
    public CallApproval(boolean approved, boolean edited, Optional<String> by, Optional<String> reason, Instant at) {
        this(approved, edited, by, reason, at, Optional.empty());
    }

    /** A decision that was made in this thread, not read from a checkpoint, with its signature if it must be signed. */
    public CallApproval(
            boolean approved,
            boolean edited,
            Optional<String> by,
            Optional<String> reason,
            Instant at,
            Optional<DecisionSignature> signed) {
        this(approved, edited, by, reason, at, signed, false, Optional.empty(), Optional.empty());
    }

    /** An approval that only a checkpoint states. */
    public static CallApproval recorded(boolean edited, Instant at) {
        return new CallApproval(
                true,
                edited,
                Optional.empty(),
                Optional.empty(),
                at,
                Optional.empty(),
                true,
                Optional.empty(),
                Optional.empty());
    }

    /** A copy for a deleted conversation, without texts and names. */
    public CallApproval forgotten() {
        return new CallApproval(approved, edited, Optional.empty(), Optional.empty(), at);
    }

    /** A copy that names who has approved, as an identity provider says. */
    public CallApproval verifiedAs(Optional<VerifiedSubject> subject) {
        return new CallApproval(approved, edited, by, reason, at, signed, stated, subject, grant);
    }

    /** A copy that also lets later calls run. */
    public CallApproval granting(Optional<GrantTerms> terms) {
        return new CallApproval(approved, edited, by, reason, at, signed, stated, verified, terms);
    }

    public CallApproval {
        Objects.requireNonNull(at, "at");
    }
}
