package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.policy.DecisionStatement;
import dev.waymark.conversation.policy.Signers;
import java.util.List;
import java.util.Optional;

/** Finds decisions that were recorded without the signature that the agent requires. */
public final class UnsignedDecisions {
    private UnsignedDecisions() {}

    /**
     * The ids of calls whose decision lacks a required valid signature. Empty unless history was changed. Calls of a
     * cleared conversation are skipped, since their decisions were deleted too.
     */
    public static List<String> in(Conversation state) {
        Optional<Signers> signers = state.terms().flatMap(AgentPolicy::signers);
        if (signers.isEmpty()) {
            return List.of();
        }
        return state.calls().toMap().values().stream()
                .filter(call -> call.approval()
                        .filter(UnsignedDecisions::isDecidedByName)
                        .isPresent())
                .filter(call -> !isSigned(call, signers.get()))
                .map(Call::id)
                .toList();
    }

    private static boolean isDecidedByName(CallApproval approval) {
        return approval.by().isPresent() || approval.signed().isPresent();
    }

    private static boolean isSigned(Call call, Signers signers) {
        CallApproval approval = call.approval().orElseThrow();
        return approval.signed()
                .filter(signed -> !approval.approved()
                        || signed.newArgsDigest().orElse(signed.argsDigest()).equals(call.argsDigest()))
                .filter(signed -> signers.verifies(
                        new DecisionStatement(
                                signers.of(call.id()).place(),
                                signed.asked(),
                                signed.argsDigest(),
                                approval.approved() ? "approve" : "deny",
                                signed.newArgsDigest(),
                                approval.reason(),
                                Optional.empty(),
                                approval.by().orElse("")),
                        signed.signature()))
                .isPresent();
    }
}
