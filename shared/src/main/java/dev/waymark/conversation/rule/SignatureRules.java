package dev.waymark.conversation.rule;

import dev.waymark.conversation.decision.DecisionSignature;
import dev.waymark.conversation.decision.DecisionStatement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.value.Problem;
import java.util.Optional;

/** Checks decisions about calls of agents that accept only signed decisions. */
final class SignatureRules {
    private SignatureRules() {}

    /** Why the decision's signature is not accepted; empty if it is, or if the decision need not be signed. */
    static Optional<Problem> objection(PendingItem ask, PersonFact.Decision decision) {
        return ask.signers()
                .flatMap(signers -> signers.objection(decision.statement(signers, ask), decision.signature()));
    }

    /** The stored form of the decision's signature; empty if decisions need not be signed. */
    static Optional<DecisionSignature> signature(PendingItem ask, PersonFact.Decision decision) {
        return ask.signers()
                .flatMap(signers -> decision.signature().map(signature -> {
                    DecisionStatement statement = decision.statement(signers, ask);
                    return new DecisionSignature(
                            statement.asked(),
                            statement.argsDigest(),
                            statement.newArgsDigest(),
                            decision.result(),
                            signature);
                }));
    }
}
