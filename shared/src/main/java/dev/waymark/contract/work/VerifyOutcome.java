package dev.waymark.contract.work;

import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ToolFact;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The result of the {@code verify} activity.
 *
 * @param note why the outcome is still unknown, for readers of the history
 */
public record VerifyOutcome(Optional<Boolean> landed, Optional<String> result, Optional<String> note) {

    /** A copy in which the change is applied to all texts that a program may have influenced. */
    public VerifyOutcome withTexts(UnaryOperator<String> change) {
        return new VerifyOutcome(landed, result.map(change), note.map(change));
    }

    /** @param result the call's result for the model, if it took effect */
    public static VerifyOutcome known(boolean landed, Optional<String> result) {
        return new VerifyOutcome(Optional.of(landed), landed ? result : Optional.empty(), Optional.empty());
    }

    public static VerifyOutcome unknown(String why) {
        return new VerifyOutcome(Optional.empty(), Optional.empty(), Optional.of(why));
    }

    public Fact toFact(String callId, int dispatch) {
        return new ToolFact.ToolVerified(callId, dispatch, landed, result);
    }
}
