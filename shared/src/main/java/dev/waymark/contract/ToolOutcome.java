package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.value.Problem;
import java.util.Objects;
import java.util.Optional;

/**
 * What a tool's activity returns: one of a result, an error that the model sees, a question for a person, the word that
 * the tool did not run, or why nobody knows what it did.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record ToolOutcome(
        @JsonProperty("result") Optional<String> result,
        @JsonProperty("error") Optional<String> error,
        @JsonProperty("question") Optional<String> question,
        @JsonProperty("notStarted") Optional<NotStarted> notStarted,
        @JsonProperty("lost") Optional<String> lost) {
    @JsonCreator
    public ToolOutcome {
        result = result == null ? Optional.empty() : result;
        error = error == null ? Optional.empty() : error;
        question = question == null ? Optional.empty() : question;
        notStarted = notStarted == null ? Optional.empty() : notStarted;
        lost = lost == null ? Optional.empty() : lost;
    }

    /** That a tool did not run and won't, in this execution. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record NotStarted(
            @JsonProperty("execution") String execution,
            @JsonProperty("reason") String reason) {
        @JsonCreator
        public NotStarted {
            Objects.requireNonNull(execution, "execution");
            reason = reason == null ? "" : reason;
        }
    }

    public static ToolOutcome result(String text) {
        return new ToolOutcome(
                Optional.of(text), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** The whole text that the model sees, {@code Tool error: …} included. */
    public static ToolOutcome error(String text) {
        return new ToolOutcome(
                Optional.empty(), Optional.of(text), Optional.empty(), Optional.empty(), Optional.empty());
    }

    public static ToolOutcome question(String words) {
        return new ToolOutcome(
                Optional.empty(), Optional.empty(), Optional.of(words), Optional.empty(), Optional.empty());
    }

    /** {@code execution} is the name under which this execution claims. */
    public static ToolOutcome notStarted(String execution, String reason) {
        NotStarted notStarted = new NotStarted(execution, reason);
        return new ToolOutcome(
                Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(notStarted), Optional.empty());
    }

    /** It ran, and what it did is not known: it took too long and was ended. */
    public static ToolOutcome lost(String why) {
        return new ToolOutcome(
                Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(why));
    }

    public Fact toFact(String callId, int dispatch) {
        if (question.isPresent()) {
            return new Fact.ToolInterrupted(callId, dispatch, question.get());
        }
        if (notStarted.isPresent()) {
            NotStarted why = notStarted.get();
            return new Fact.ToolNotStarted(callId, dispatch, why.execution(), why.reason());
        }
        if (lost.isPresent()) {
            return new Fact.ToolLost(callId, dispatch, new Problem(WireNames.TIMEOUT, lost.get()));
        }
        return new Fact.ToolFinished(callId, dispatch, error.or(() -> result).orElse(""), error.isPresent());
    }
}
