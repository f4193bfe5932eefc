package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.SignerKey;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Who must sign decisions about calls, by name, and the place of the calls. Signatures include that place, so that none
 * is valid for another thread.
 *
 * @param place a thread's id, or the place of a call: the thread's id, a slash and the call's id
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Signers(
        @JsonProperty("place") String place,
        @JsonProperty("keys") Map<String, SignerKey> keys) {
    @JsonCreator
    public Signers {
        Objects.requireNonNull(place, "place");
        keys = Collections.unmodifiableMap(new LinkedHashMap<>(keys));
    }

    Signers of(String callId) {
        return new Signers(place + "/" + callId, keys);
    }

    /** Why the signature does not count; empty if it does. */
    Optional<Problem> objection(DecisionStatement statement, Optional<String> signature) {
        if (signature.isEmpty()) {
            return Optional.of(new Problem(
                    Problem.SIGNATURE_REQUIRED,
                    "a decision about " + place + " counts only if it is signed by "
                            + String.join(" or ", keys.keySet())));
        }
        return verifies(statement, signature.get())
                ? Optional.empty()
                : Optional.of(new Problem(
                        Problem.SIGNATURE_REQUIRED,
                        "the signature is not that of " + statement.by() + " under this decision about " + place
                                + ": signers are " + String.join(", ", keys.keySet())));
    }

    /**
     * The calls of a thread whose decision lacks a required valid signature. Empty unless history was changed. Calls of
     * a cleared conversation are skipped, since their decisions were deleted too.
     */
    public static List<String> violations(Conversation state) {
        Optional<Signers> signers = state.terms().flatMap(AgentPolicy::signers);
        if (signers.isEmpty()) {
            return List.of();
        }
        return state.calls().toMap().values().stream()
                .filter(call -> call.approval().filter(Signers::isDecidedByName).isPresent())
                .filter(call -> !signers.get().isSigned(call))
                .map(Call::id)
                .toList();
    }

    private static boolean isDecidedByName(CallApproval approval) {
        return approval.by().isPresent() || approval.signed().isPresent();
    }

    private boolean isSigned(Call call) {
        CallApproval approval = call.approval().orElseThrow();
        return approval.signed()
                .filter(signed -> !approval.approved()
                        || signed.newArgsDigest().orElse(signed.argsDigest()).equals(call.argsDigest()))
                .filter(signed -> verifies(
                        new DecisionStatement(
                                of(call.id()).place(),
                                signed.asked(),
                                signed.argsDigest(),
                                approval.approved() ? "approve" : "deny",
                                signed.newArgsDigest(),
                                approval.reason(),
                                approval.by().orElse("")),
                        signed.signature()))
                .isPresent();
    }

    boolean verifies(DecisionStatement statement, String signature) {
        SignerKey key = keys.get(statement.by());
        return key != null && key.verifies(statement.bytes(), signature);
    }
}
