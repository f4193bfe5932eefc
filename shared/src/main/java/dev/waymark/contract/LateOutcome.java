package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Objects;

/**
 * What an execution signals to its workflow when the server no longer takes its activity's completion: it ran longer than
 * it was waited for, or nothing was heard of it for too long. The workflow believes the execution that holds the claim.
 *
 * @param execution the name under which it claimed
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record LateOutcome(
        @JsonProperty("callId") String callId,
        @JsonProperty("dispatch") int dispatch,
        @JsonProperty("execution") String execution,
        @JsonProperty("outcome") ToolOutcome outcome) {
    @JsonCreator
    public LateOutcome {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(execution, "execution");
        Objects.requireNonNull(outcome, "outcome");
    }
}
