package dev.waymark.conversation.decision;

import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.SignerKey;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Who must sign decisions about calls, by name, and the place of the calls. Signatures include the place, so a
 * signature for one thread is not valid for another.
 *
 * @param place a thread's id, or the place of a call: the thread's id, a slash and the call's id
 */
public record Signers(String place, Map<String, SignerKey> keys) {
    public Signers {
        Objects.requireNonNull(place, "place");
        keys = Collections.unmodifiableMap(new LinkedHashMap<>(keys));
    }

    /** The signers of decisions about this call. */
    public Signers of(String callId) {
        return new Signers(place + "/" + callId, keys);
    }

    /** Why the signature is not accepted; empty if it is. */
    public Optional<Problem> objection(DecisionStatement statement, Optional<String> signature) {
        if (signature.isEmpty()) {
            return Optional.of(new Problem(
                    ProblemType.SIGNATURE_REQUIRED,
                    "a decision about " + place + " counts only if it is signed by "
                            + String.join(" or ", keys.keySet())));
        }
        return verifies(statement, signature.get())
                ? Optional.empty()
                : Optional.of(new Problem(
                        ProblemType.SIGNATURE_REQUIRED,
                        "the signature is not that of " + statement.by() + " under this decision about " + place
                                + ": signers are " + String.join(", ", keys.keySet())));
    }

    /** Whether the signature is that of the person whom the statement names. */
    public boolean verifies(DecisionStatement statement, String signature) {
        SignerKey key = keys.get(statement.by());
        return key != null && key.verifies(statement.bytes(), signature);
    }
}
