package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.EffectLog;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.ToolFact;
import java.util.Optional;

/** Rules of claims: which execution may take effect, and how to treat a claim that a reset reapplied. */
final class ClaimRules {
    private ClaimRules() {}

    static void toolClaimed(Draft draft, ToolFact.ToolClaimed fact) {
        Optional<Call> claimed =
                draft.book.calls.get(fact.callId()).filter(call -> Admission.isOfOpenDispatch(call, fact));
        if (claimed.isPresent()) {
            Call.Claim claim = EffectRules.claim(draft, fact.tool(), fact.argsDigest(), fact.execution());
            draft.book.put(claimed.get().repeating(fact.repeat()).claimed(claim, draft.at));
        } else {
            restore(draft, fact);
            draft.reachVersionWhenBatchIsDone();
        }
    }

    /**
     * Handles a claim that a reset reapplied, for a dispatch that is not open here. The claimed execution may have
     * taken effect, or may still take effect, so an identical call must wait.
     */
    private static void restore(Draft draft, ToolFact.ToolClaimed fact) {
        Call.Claim claim = EffectRules.claim(draft, fact.tool(), fact.argsDigest(), fact.execution());
        countUse(draft, fact);
        Optional<Call> own = draft.book.batch.stream()
                .filter(fact.callId()::equals)
                .map(draft.book::call)
                .filter(call -> Admission.isOfCall(call, fact))
                .findFirst();
        Optional<Call> answerable = own.isPresent()
                ? own
                : draft.book.openCalls().stream()
                        .filter(call -> call.claim().isEmpty() && Admission.isOfCall(call, fact))
                        .findFirst();
        if (answerable.isEmpty() || !attach(draft, answerable.get().repeating(fact.repeat()), claim)) {
            String key = EffectLog.key(fact.tool(), fact.argsDigest());
            EffectLog.Remembered remembered = new EffectLog.Remembered(fact.callId(), fact.repeat(), claim);
            draft.book.effects =
                    draft.book.effects.with(key, draft.book.effects.of(key).remembering(remembered));
            draft.book.openCalls().stream()
                    .filter(call -> Admission.isOfCall(call, fact))
                    .forEach(call -> LostCallRules.postpone(draft, call));
        }
    }

    /** Counts a use of a grant that the reset undid, so that the grant's limit still holds. */
    private static void countUse(Draft draft, ToolFact.ToolClaimed fact) {
        boolean isCounted = draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.grant().equals(fact.grant()))
                .isPresent();
        if (!isCounted) {
            fact.grant().ifPresent(number -> draft.book.grants = draft.book.grants.with(number, Grant::usedOnce));
        }
    }

    /**
     * Attaches a claim to a call of the newest reply. Returns false if the call asks a question, has completed, or is
     * executed by a subagent.
     */
    private static boolean attach(Draft draft, Call call, Call.Claim claim) {
        switch (call.status()) {
            case ISSUED, HELD, JUDGING, AWAITING, DISPATCHED, CLAIMED, UNKNOWN, DOUBTED, UNSETTLED -> {
                LostCallRules.checkAfterFence(
                        draft, (call.claim().isPresent() ? call.withUsedKey() : call).claimedLater(claim));
            }
            case VERIFYING, LOST -> draft.book.put(call.claimedLater(claim));
            case DENIED, FAILED, CANCELLED -> {
                if (draft.dialogue.turn.isRunning() && call.status() != Call.Status.CANCELLED) {
                    LostCallRules.checkAfterFence(
                            draft,
                            call.claimedLater(claim)); // The model has not seen the result, which omits this claim.
                } else {
                    String known = call.claim().isPresent() ? "" : ToolTexts.claimed(claim.at());
                    String text = call.result().orElse("") + known;
                    draft.book.put(call.claimedLater(claim).ended(call.status(), text, draft.at));
                }
            }
            case ASKING, COMPLETED, REMOTE, FOLLOWING, DELEGATED -> {
                return false;
            }
        }
        return true;
    }
}
