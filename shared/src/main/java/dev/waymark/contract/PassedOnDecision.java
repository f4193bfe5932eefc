package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Fact;
import java.util.Objects;

/**
 * What readers of history need of a decision that a thread passes on to the thread of a subagent: the call of its own
 * that it goes by. The rest is an answer, an approval, a denial or a settlement, as anybody may send it.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record PassedOnDecision(@JsonProperty("via") String via) {
    @JsonCreator
    public PassedOnDecision {
        Objects.requireNonNull(via, "via");
    }

    /** The decision was sent. */
    public Fact sent() {
        return new Fact.DecisionPassedOn(via);
    }
}
