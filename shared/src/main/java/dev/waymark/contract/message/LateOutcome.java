package dev.waymark.contract.message;

import dev.waymark.contract.work.ToolOutcome;
import java.util.Objects;

/**
 * The signal that an execution sends to its workflow when the server no longer accepts its activity's completion,
 * because the activity took too long or the server received no heartbeat for too long. The workflow accepts it only
 * from the execution that holds the claim.
 *
 * @param execution the name that the execution used in its claim
 */
public record LateOutcome(String callId, int dispatch, String execution, ToolOutcome outcome) {
    public LateOutcome {
        Objects.requireNonNull(callId, "callId");
        Objects.requireNonNull(execution, "execution");
        Objects.requireNonNull(outcome, "outcome");
    }
}
