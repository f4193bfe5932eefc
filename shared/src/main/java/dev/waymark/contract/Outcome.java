package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Problem;
import dev.waymark.conversation.Turn;
import java.util.Optional;

/** A run's result: how its last turn ended. The conversation itself stays in history. */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Outcome(
        @JsonProperty("status") String status,
        @JsonProperty("turn") int turn,
        @JsonProperty("text") String text,
        @JsonProperty("error") Optional<Problem> error) {
    @JsonCreator
    public Outcome {
        error = error == null ? Optional.empty() : error;
    }

    public static Outcome of(Turn turn) {
        return new Outcome(turn.status().wireName(), turn.number(), turn.text(), turn.problem());
    }
}
