package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.waymark.conversation.decision.CallSettlement;
import java.util.Optional;

/**
 * What was done to execute a call.
 *
 * @param dispatches how often it was dispatched to a worker
 * @param repeat the number of calls with the same tool and arguments whose outcome was known before this one ran. All
 *     executions of a call share this number, and therefore its idempotency key.
 * @param claim the execution that was allowed to take effect, if any
 * @param evidence what was observed of an execution with an unknown outcome, such as {@code HTTP 504}
 * @param settlement what a person decided about the unknown outcome
 * @param subagent the state of the thread that executes the call, if a subagent does
 * @param suspension set if the tool's server has started the call but not finished it
 */
public record Execution(
        int dispatches,

        @JsonInclude(JsonInclude.Include.NON_DEFAULT) int repeat,

        Optional<Call.Claim> claim,
        Optional<String> evidence,
        Optional<CallSettlement> settlement,
        Optional<Delegation> subagent,
        Optional<Suspension> suspension) {
    /** Longer evidence is cut. */
    static final int MAX_EVIDENCE_LENGTH = 500;

    static final Execution NONE = new Execution(
            0, 0, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    final class Edit {
        int dispatches = Execution.this.dispatches;
        int repeat = Execution.this.repeat;
        Optional<Call.Claim> claim = Execution.this.claim;
        Optional<String> evidence = Execution.this.evidence;
        Optional<CallSettlement> settlement = Execution.this.settlement;
        Optional<Delegation> subagent = Execution.this.subagent;
        Optional<Suspension> suspension = Execution.this.suspension;

        Execution done() {
            return new Execution(dispatches, repeat, claim, evidence, settlement, subagent, suspension);
        }
    }
}
