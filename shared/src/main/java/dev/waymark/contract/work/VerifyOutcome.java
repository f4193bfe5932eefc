package dev.waymark.contract.work;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ToolFact;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The result of the {@code verify} activity.
 *
 * @param note why the outcome is still unknown, for readers of the history
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record VerifyOutcome(
        @JsonProperty("landed") Optional<Boolean> landed,
        @JsonProperty("result") Optional<String> result,
        @JsonProperty("note") Optional<String> note) {
    @JsonCreator
    public VerifyOutcome {
        landed = landed == null ? Optional.empty() : landed;
        result = result == null ? Optional.empty() : result;
        note = note == null ? Optional.empty() : note;
    }

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
