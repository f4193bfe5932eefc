package dev.waymark.conversation;

import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.call.CallSettlement;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.policy.DecisionStatement;
import dev.waymark.conversation.policy.Signers;
import dev.waymark.conversation.value.Problem;
import java.util.Optional;

/** Checks decisions about calls of agents that accept only signed decisions. */
final class SignatureRules {
    private SignatureRules() {}

    /** Why this decision does not count; empty if it counts or need not be signed. */
    static Optional<Problem> objection(PendingItem ask, PersonFact.ApprovalDecided decided) {
        return ask.signers()
                .flatMap(signers -> signers.objection(statement(signers, ask, decided), decided.signature()));
    }

    static Optional<Problem> objection(PendingItem ask, PersonFact.OutcomeSettled settled) {
        return ask.signers()
                .flatMap(signers -> signers.objection(statement(signers, ask, settled), settled.signature()));
    }

    /** The stored form of the decision's signature; empty if decisions need not be signed. */
    static Optional<CallApproval.Signature> signature(PendingItem ask, PersonFact.ApprovalDecided decided) {
        return ask.signers()
                .map(signers -> statement(signers, ask, decided))
                .flatMap(statement -> decided.signature()
                        .map(signature -> new CallApproval.Signature(
                                statement.asked(), statement.argsDigest(), statement.newArgsDigest(), signature)));
    }

    /** The stored form of the settlement's signature; empty if decisions need not be signed. */
    static Optional<CallSettlement.Signature> signature(PendingItem ask, PersonFact.OutcomeSettled settled) {
        return ask.signers()
                .map(signers -> statement(signers, ask, settled))
                .flatMap(statement -> settled.signature()
                        .map(signature -> new CallSettlement.Signature(
                                statement.asked(), statement.argsDigest(), statement.words(), signature)));
    }

    private static DecisionStatement statement(Signers signers, PendingItem ask, PersonFact.OutcomeSettled settled) {
        return DecisionStatement.about(
                signers,
                ask.since(),
                ask.argsDigest(),
                settled.settlement().wireName(),
                Optional.empty(),
                settled.result(),
                settled.note(),
                settled.by());
    }

    /** The statement that the signature of this decision must cover. */
    private static DecisionStatement statement(Signers signers, PendingItem ask, PersonFact.ApprovalDecided decided) {
        return DecisionStatement.about(
                signers,
                ask.since(),
                ask.argsDigest(),
                decided.signal(),
                decided.args(),
                decided.reason(),
                Optional.empty(),
                decided.by());
    }
}
