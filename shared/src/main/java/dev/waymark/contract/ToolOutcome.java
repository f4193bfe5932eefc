package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Fact;
import java.util.Optional;

/** What a tool's activity returns: one of a result, an error that the model sees, or a question for a person. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record ToolOutcome(
        @JsonProperty("result") Optional<String> result,
        @JsonProperty("error") Optional<String> error,
        @JsonProperty("question") Optional<String> question) {
    @JsonCreator
    public ToolOutcome {
        result = result == null ? Optional.empty() : result;
        error = error == null ? Optional.empty() : error;
        question = question == null ? Optional.empty() : question;
    }

    public static ToolOutcome result(String text) {
        return new ToolOutcome(Optional.of(text), Optional.empty(), Optional.empty());
    }

    /** The whole text that the model sees, {@code Tool error: …} included. */
    public static ToolOutcome error(String text) {
        return new ToolOutcome(Optional.empty(), Optional.of(text), Optional.empty());
    }

    public static ToolOutcome question(String words) {
        return new ToolOutcome(Optional.empty(), Optional.empty(), Optional.of(words));
    }

    public Fact toFact(String callId, int dispatch) {
        if (question.isPresent()) {
            return new Fact.ToolInterrupted(callId, dispatch, question.get());
        }
        return new Fact.ToolFinished(callId, dispatch, error.or(() -> result).orElse(""), error.isPresent());
    }
}
