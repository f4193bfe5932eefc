package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;

/**
 * The data that is needed to verify a signed decision again.
 *
 * @param asked when the decision was requested
 * @param argsDigest the digest of the arguments shown
 * @param newArgsDigest the digest of the arguments that an approval put in place of those shown, if it did
 * @param result the result that a settlement stated, if it did
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record DecisionSignature(
        @JsonProperty("asked") Instant asked,
        @JsonProperty("argsDigest") String argsDigest,
        @JsonProperty("newArgsDigest") Optional<String> newArgsDigest,
        @JsonProperty("result") Optional<String> result,
        @JsonProperty("signature") String signature) {
    @JsonCreator
    public DecisionSignature {
        Objects.requireNonNull(asked, "asked");
        Objects.requireNonNull(argsDigest, "argsDigest");
        Objects.requireNonNull(signature, "signature");
        newArgsDigest = newArgsDigest == null ? Optional.empty() : newArgsDigest;
        result = result == null ? Optional.empty() : result;
    }

    /** The digest of the arguments that the decision lets the call run with. */
    public String decidedArgsDigest() {
        return newArgsDigest.orElse(argsDigest);
    }
}
