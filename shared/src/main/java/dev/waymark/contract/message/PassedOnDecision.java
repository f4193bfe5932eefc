package dev.waymark.contract.message;

import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.SubagentFact;
import java.util.Objects;

/**
 * The part of a decision passed on to a subagent's thread that readers of history need: the id of the subagent call.
 * The rest is an ordinary answer, approval, denial or settlement.
 */
public record PassedOnDecision(String via) {
    public PassedOnDecision {
        Objects.requireNonNull(via, "via");
    }

    /** The fact that the decision was sent. */
    public Fact sent() {
        return new SubagentFact.DecisionPassedOn(via);
    }
}
