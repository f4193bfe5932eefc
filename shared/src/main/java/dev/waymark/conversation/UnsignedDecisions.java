package dev.waymark.conversation;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.DecisionSignature;
import dev.waymark.conversation.decision.DecisionStatement;
import dev.waymark.conversation.decision.Signers;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.value.GrantTerms;
import java.util.List;
import java.util.Optional;

/** Finds decisions that were recorded without the signature that the agent requires. */
public final class UnsignedDecisions {
    private UnsignedDecisions() {}

    /**
     * The ids of calls whose decision lacks a required valid signature. Empty unless history was changed. Skips calls
     * of a cleared conversation, since their decisions were deleted too.
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

    private static boolean isApprovalSigned(Call call, Signers signers) {
        return call.approval()
                .map(approval -> isSigned(
                        call,
                        signers,
                        approval.approved() ? SignalNames.APPROVE : SignalNames.DENY,
                        approval.reason(),
                        Optional.empty(),
                        approval.by(),
                        approval.grant(),
                        approval.signed()))
                .orElse(true);
    }

    private static boolean isSettlementSigned(Call call, Signers signers) {
        return call.settlement()
                .map(settlement -> isSigned(
                        call,
                        signers,
                        settlement.outcome().wireName(),
                        settlement.signed().flatMap(DecisionSignature::result),
                        settlement.note(),
                        settlement.by(),
                        Optional.empty(),
                        settlement.signed()))
                .orElse(true);
    }

    /** Whether the digest covers the call's arguments, alone or with the definition of its tool. */
    private static boolean isAbout(Call call, String digest) {
        return digest.equals(call.argsDigest())
                || call.definition()
                        .filter(tool -> digest.equals(tool.digestWith(call.argsDigest())))
                        .isPresent();
    }

    /** True if the signature is valid and about the call's arguments, or if no person has decided. */
    private static boolean isSigned(
            Call call,
            Signers signers,
            String decision,
            Optional<String> words,
            Optional<String> note,
            Optional<String> by,
            Optional<GrantTerms> grant,
            Optional<DecisionSignature> signature) {
        if (by.isEmpty() && signature.isEmpty()) {
            return true;
        }
        return signature
                .filter(signed -> decision.equals(SignalNames.DENY) || isAbout(call, signed.decidedArgsDigest()))
                .filter(signed -> signers.verifies(
                        new DecisionStatement(
                                signers.of(call.id()).place(),
                                signed.asked(),
                                signed.argsDigest(),
                                decision,
                                signed.newArgsDigest(),
                                words,
                                note,
                                by.orElse(""),
                                grant),
                        signed.signature()))
                .isPresent();
    }
}
