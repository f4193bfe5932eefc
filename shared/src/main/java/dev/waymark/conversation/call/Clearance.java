package dev.waymark.conversation.call;

import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.value.CallVerdict;
import java.util.Optional;

/**
 * What decides whether a call may run.
 *
 * @param approval what a person decided
 * @param fromFile set if only a checkpoint contains the call, so that somebody has to decide in this thread whether it
 *     runs
 * @param verdict the verdict of the agent's rules about the call with these arguments, if they were asked
 * @param grant the number of the grant that lets the call run, if any
 * @param definition the definitions of the tool that the request and the decision are about, if the tool has one
 */
public record Clearance(
        Optional<CallApproval> approval,
        Optional<FromFile> fromFile,
        Optional<CallVerdict> verdict,
        Optional<Integer> grant,
        Optional<ToolDefinition> definition) {
    static final Clearance NONE =
            new Clearance(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    final class Edit {
        Optional<CallApproval> approval = Clearance.this.approval;
        Optional<FromFile> fromFile = Clearance.this.fromFile;
        Optional<CallVerdict> verdict = Clearance.this.verdict;
        Optional<Integer> grant = Clearance.this.grant;
        Optional<ToolDefinition> definition = Clearance.this.definition;

        Clearance done() {
            return new Clearance(approval, fromFile, verdict, grant, definition);
        }
    }
}
