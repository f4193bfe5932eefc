package dev.waymark.contract.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.contract.work.ToolOutcome;
import java.util.Objects;

/**
 * The signal of an execution to its workflow when the server no longer accepts its activity's completion, because it
 * took too long, or was not heard of for too long. The workflow trusts the execution that holds the claim.
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
