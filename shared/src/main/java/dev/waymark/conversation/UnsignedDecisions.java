package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.call.CallSettlement;
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
        Optional<Signers> signers = state.policy().flatMap(AgentPolicy::signers);
        if (signers.isEmpty()) {
            return List.of();
        }
        return state.calls().toMap().values().stream()
                .filter(call -> !isApprovalSigned(call, signers.get()) || !isSettlementSigned(call, signers.get()))
                .map(Call::id)
                .toList();
    }

    /** True if no person decided whether the call runs. */
    private static boolean isApprovalSigned(Call call, Signers signers) {
        Optional<CallApproval> named = call.approval()
                .filter(approval ->
                        approval.by().isPresent() || approval.signed().isPresent());
        return named.isEmpty() || isSigned(named.get(), call, signers);
    }

    private static boolean isSigned(CallApproval approval, Call call, Signers signers) {
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

    /** True if no person settled the call. */
    private static boolean isSettlementSigned(Call call, Signers signers) {
        Optional<CallSettlement> named = call.settlement()
                .filter(settlement ->
                        settlement.by().isPresent() || settlement.signed().isPresent());
        return named.isEmpty() || isSigned(named.get(), call, signers);
    }

    private static boolean isSigned(CallSettlement settlement, Call call, Signers signers) {
        return settlement
                .signed()
                .filter(signed -> signed.argsDigest().equals(call.argsDigest()))
                .filter(signed -> signers.verifies(
                        new DecisionStatement(
                                signers.of(call.id()).place(),
                                signed.asked(),
                                signed.argsDigest(),
                                settlement.verdict().wireName(),
                                Optional.empty(),
                                signed.result(),
                                settlement.note(),
                                settlement.by().orElse("")),
                        signed.signature()))
                .isPresent();
    }
}
