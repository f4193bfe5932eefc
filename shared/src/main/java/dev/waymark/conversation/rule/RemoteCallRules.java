package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.EffectLog;
import dev.waymark.conversation.call.InputForm;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.FormAction;
import java.time.Instant;
import java.util.Optional;

/**
 * Rules of calls that their tool's server has started but not finished. Such a call keeps its claim, because it may
 * take effect until the server reports its end.
 */
final class RemoteCallRules {
    private RemoteCallRules() {}

    static void toolSuspended(Draft draft, ToolFact.ToolSuspended fact) {
        Optional<Call> running = draft.book.running(fact.callId(), fact.dispatch());
        if (running.isPresent()) {
            suspend(draft, running.get(), fact.suspension());
        } else {
            draft.book
                    .calls // The turn may have been stopped meanwhile.
                    .get(fact.callId())
                    .filter(call -> call.status() == Call.Status.CANCELLED && call.dispatches() == fact.dispatch())
                    .ifPresent(call -> abandon(draft, call, fact.suspension()));
        }
    }

    /**
     * Handles a late report of the execution that holds the claim: the server has started but not finished the call.
     */
    static void suspendedLate(Draft draft, Call call, Suspension how) {
        if (call.status() == Call.Status.CANCELLED) {
            abandon(draft, call, how);
        } else if (call.isOpen()) {
            suspend(draft, call.withUsedKey(), how);
        }
    }

    private static void abandon(Draft draft, Call call, Suspension how) {
        how.task().ifPresent(task -> draft.book.abandon(call, task));
    }

    private static void suspend(Draft draft, Call call, Suspension how) {
        boolean isRepeated = how.form().isEmpty() && how.task().isEmpty();
        if (isRepeated && call.dispatches() >= ToolRules.MAX_DISPATCHES) {
            draft.end(call, Call.Status.FAILED, ToolTexts.failure("its server did not finish it"));
        } else {
            goOn(draft, call, how, Draft.pause(call, draft.at));
        }
    }

    /** @param notBefore when to send the call again, if the server waits for that */
    private static void goOn(Draft draft, Call call, Suspension how, Optional<Instant> notBefore) {
        Call suspended = call.suspended(Optional.of(how));
        if (how.form().isPresent()) {
            draft.book.put(suspended
                    .asking(how.form().get().words(call.tool()), draft.at)
                    .expiring(draft.expiry()));
        } else if (how.task().isPresent()) {
            draft.book.put(suspended.remote(draft.at));
        } else {
            repeat(draft, suspended, notBefore);
        }
    }

    /** Tells the call's server that its question was cancelled. Ends the call if the server keeps asking. */
    static void unanswered(Draft draft, Call call) {
        if (call.dispatches() >= ToolRules.MAX_DISPATCHES) {
            call.task().ifPresent(task -> draft.book.abandon(call, task));
            draft.end(call, Call.Status.FAILED, ToolTexts.unanswered() + Draft.claimNote(call));
            return;
        }
        Suspension before = call.suspension().orElseThrow();
        InputForm form = before.form().orElseThrow();
        goOn(draft, call, before.answered(form.response(FormAction.CANCEL, "", Optional.empty())), Optional.empty());
    }

    /** Applies an answer, which must fit, to the question of the call's server. */
    static void answered(Draft draft, Call call, PersonFact.HumanAnswered fact) {
        Suspension before = call.suspension().orElseThrow();
        InputForm form = before.form().orElseThrow();
        Suspension now =
                before.answered(form.response(fact.action().orElse(FormAction.ACCEPT), fact.answer(), fact.fields()));
        goOn(draft, call, now, Optional.empty());
    }

    /**
     * Sends the call to its server again. If a reset has undone an execution that may have taken effect, its outcome is
     * determined first. If the call's grant is over, a person must approve the call first.
     */
    private static void repeat(Draft draft, Call suspended, Optional<Instant> notBefore) {
        Optional<EffectLog.Remembered> undone = draft.book
                .effectOf(suspended)
                .rememberedFor(suspended.id())
                .filter(claim -> claim.callId().equals(suspended.id()));
        if (undone.isPresent()) {
            LostCallRules.adoptUndoneExecution(draft, suspended.withUsedKey(), undone.get());
        } else if (ApprovalRules.isMissingFor(draft, suspended)) {
            ApprovalRules.askFor(draft, suspended);
        } else {
            draft.book.put(suspended.issued(notBefore, draft.at));
        }
    }

    static void taskFollowed(Draft draft, ToolFact.TaskFollowed fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.REMOTE && call.dispatches() == fact.dispatch())
                .ifPresent(call -> draft.book.put(call.following(draft.at)));
    }

    static void taskCancelRequested(Draft draft, ToolFact.TaskCancelRequested fact) {
        draft.book.taken(fact.callId());
    }
}
