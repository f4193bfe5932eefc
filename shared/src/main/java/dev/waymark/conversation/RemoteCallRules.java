package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.InputForm;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.FormAction;
import java.time.Instant;
import java.util.Optional;

/**
 * Rules of calls that their tool's server has begun and not finished. The claim of such a call stays: it may take
 * effect, or have taken effect, until the server says how it ended.
 */
final class RemoteCallRules {
    private final Draft draft;
    private final ApprovalRules approvals;

    RemoteCallRules(Draft draft, ApprovalRules approvals) {
        this.draft = draft;
        this.approvals = approvals;
    }

    void toolSuspended(ToolFact.ToolSuspended fact) {
        Optional<Call> running = draft.book.running(fact.callId(), fact.dispatch());
        if (running.isPresent()) {
            suspend(running.get(), fact.suspension());
        } else {
            draft.book
                    .calls // The turn may have been stopped meanwhile.
                    .get(fact.callId())
                    .filter(call -> call.status() == Call.Status.CANCELLED && call.dispatches() == fact.dispatch())
                    .ifPresent(call -> abandon(call, fact.suspension()));
        }
    }

    /** Handles the late report of the execution that holds the claim, which says that the server has the call. */
    void suspendedLate(Call call, Suspension how) {
        if (call.status() == Call.Status.CANCELLED) {
            abandon(call, how);
        } else if (call.isOpen()) {
            suspend(call.withUsedKey(), how);
        }
    }

    private void abandon(Call call, Suspension how) {
        how.task().ifPresent(task -> draft.book.abandon(call, task));
    }

    private void suspend(Call call, Suspension how) {
        boolean isRepeated = how.form().isEmpty() && how.task().isEmpty();
        if (isRepeated && call.dispatches() >= Conversation.MAX_DISPATCHES) {
            draft.end(call, Call.Status.FAILED, ToolTexts.failure("its server did not finish it"));
        } else {
            goOn(call, how, Draft.pause(call, draft.at));
        }
    }

    /** @param notBefore when the call is repeated, if that is what its server waits for */
    private void goOn(Call call, Suspension how, Optional<Instant> notBefore) {
        Call suspended = call.suspended(Optional.of(how));
        if (how.form().isPresent()) {
            draft.book.put(suspended
                    .asking(how.form().get().words(call.tool()), draft.at)
                    .expiring(draft.expiry()));
        } else if (how.task().isPresent()) {
            draft.book.put(suspended.remote(draft.at));
        } else {
            repeat(suspended, notBefore);
        }
    }

    /** Tells the call's server that its question gets no answer. A server that asks again and again is not asked any more. */
    void unanswered(Call call) {
        if (call.dispatches() >= Conversation.MAX_DISPATCHES) {
            call.task().ifPresent(task -> draft.book.abandon(call, task));
            draft.end(call, Call.Status.FAILED, ToolTexts.unanswered() + Draft.claimNote(call));
            return;
        }
        Suspension before = call.suspension().orElseThrow();
        InputForm form = before.form().orElseThrow();
        goOn(call, before.answered(form.response(FormAction.CANCEL, "", Optional.empty())), Optional.empty());
    }

    /** Takes the answer to the question of a call's server. It fits, since the fact was admitted. */
    void answered(Call call, PersonFact.HumanAnswered fact) {
        Suspension before = call.suspension().orElseThrow();
        InputForm form = before.form().orElseThrow();
        Suspension now =
                before.answered(form.response(fact.action().orElse(FormAction.ACCEPT), fact.answer(), fact.fields()));
        goOn(call, now, Optional.empty());
    }

    /** Sends the call to its server again. If its grant is over by now, a person decides about that first. */
    private void repeat(Call suspended, Optional<Instant> notBefore) {
        if (approvals.isMissingFor(suspended)) {
            approvals.askFor(suspended);
        } else {
            draft.book.put(suspended.issued(notBefore, draft.at));
        }
    }

    void taskFollowed(ToolFact.TaskFollowed fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.REMOTE && call.dispatches() == fact.dispatch())
                .ifPresent(call -> draft.book.put(call.following(draft.at)));
    }

    void taskCancelRequested(ToolFact.TaskCancelRequested fact) {
        draft.book.taken(fact.callId());
    }
}
