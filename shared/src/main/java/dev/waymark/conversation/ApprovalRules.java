package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.policy.AgentPolicy;
import java.util.Optional;

/** Rules of approvals: which calls need one, and what a denial does to a call. */
final class ApprovalRules {
    private final Draft draft;

    ApprovalRules(Draft draft) {
        this.draft = draft;
    }

    boolean isMissingFor(Call call) {
        return draft.policyOf(call).approval()
                && call.approval()
                        .filter(CallApproval::approved)
                        .filter(approval -> !approval.stated())
                        .isEmpty();
    }

    void askFor(Call call) {
        Optional<AgentPolicy.Approvals> approvals =
                draft.binding.terms.orElseThrow().approvals();
        if (approvals.filter(AgentPolicy.Approvals::nobody).isPresent()) {
            String text = ToolTexts.deniedByNobody(call.tool()) + Draft.claimNote(call);
            draft.book.put(call.ended(Call.Status.DENIED, text, draft.at));
        } else {
            draft.book.put(call.awaiting(
                    approvals.flatMap(AgentPolicy.Approvals::timeoutMillis).map(draft.at::plusMillis), draft.at));
        }
    }

    void deny(Call call, CallApproval denial, String text) {
        Call decided = call.decided(denial, call.args(), draft.at);
        draft.end(decided, Call.Status.DENIED, text + Draft.claimNote(call));
    }

    void denyByTimeout(Call call) {
        CallApproval denial = new CallApproval(false, false, Optional.empty(), Optional.of("timeout"), draft.at);
        deny(call, denial, ToolTexts.deniedByTime(call.tool()));
    }
}
