package dev.waymark.conversation.decision;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * The data that is needed to verify a signed decision again.
 *
 * @param asked when the decision was requested
 * @param argsDigest the digest of the arguments shown
 * @param newArgsDigest the digest of the arguments with which an approval replaced those shown, if any
 * @param result the result that a settlement stated, if any
 */
public record DecisionSignature(
        Instant asked, String argsDigest, Optional<String> newArgsDigest, Optional<String> result, String signature) {
    public DecisionSignature {
        Objects.requireNonNull(asked, "asked");
        Objects.requireNonNull(argsDigest, "argsDigest");
        Objects.requireNonNull(signature, "signature");
    }

    /** The digest of the arguments that the decision is for. */
    public String decidedArgsDigest() {
        return newArgsDigest.orElse(argsDigest);
    }
}
