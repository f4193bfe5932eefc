package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.policy.AgentPolicy;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.CallVerdict;
import java.util.Optional;

/**
 * Rules of approvals: which calls need one, and what a denial does to a call. A tool may require approval, and so does a
 * call that only a file contains, whatever its tool. If a tool has rules, their recorded verdict about the arguments
 * decides whether a call needs approval, and may deny it.
 */
final class ApprovalRules {
    private final Draft draft;

    ApprovalRules(Draft draft) {
        this.draft = draft;
    }

    boolean isMissingFor(Call call) {
        return (isRequiredFor(call) || call.fromFile().isPresent()) && !call.isApprovedHere();
    }

    /** A call without a verdict gets one before it runs, so that nobody is asked in vain. */
    private boolean isRequiredFor(Call call) {
        return isRuled(call)
                ? call.isJudged(CallVerdict.Then.ASK)
                : draft.policyOf(call).approval();
    }

    /** Whether rules decide if the call needs approval. */
    boolean isRuled(Call call) {
        return draft.identity.rules >= ThreadIdentity.VERDICTS
                && draft.policyOf(call).ruled();
    }

    /** Whether the rules have to be asked about the call. Until then, it does not run. */
    boolean lacksVerdict(Call call) {
        return isRuled(call) && call.verdict().isEmpty();
    }

    boolean isDeniedByRules(Call call) {
        return isRuled(call) && call.isJudged(CallVerdict.Then.DENY);
    }

    /** Denies a call in the name of the rules, even if a person has approved it. */
    void denyByRules(Call call) {
        draft.book.put(call.ended(Call.Status.DENIED, ToolTexts.deniedByRules(call) + Draft.claimNote(call), draft.at));
    }

    /** Whether nothing may be done for this call, not even a check, before somebody has decided about it here. */
    boolean isUndecided(Call call) {
        return call.fromFile().filter(mark -> !mark.onlyEffects()).isPresent() && !call.isApprovedHere();
    }

    void askFor(Call call) {
        Optional<AgentPolicy.Approvals> approvals =
                draft.binding.policy.orElseThrow().approvals();
        if (approvals.filter(AgentPolicy.Approvals::nobody).isPresent()) {
            String text = ToolTexts.deniedByNobody(call) + Draft.claimNote(call);
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
        deny(call, denial, ToolTexts.deniedByTime(call));
    }
}
