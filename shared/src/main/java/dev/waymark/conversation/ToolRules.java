package dev.waymark.conversation;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.Problem;
import java.util.Optional;

/** Rules of dispatched calls: what each outcome of a dispatch does to its call. */
final class ToolRules {
    private final Draft draft;
    private final ApprovalRules approvals;
    private final EffectRules effects;
    private final LostCallRules lost;
    private final RemoteCallRules remote;

    ToolRules(Draft draft, ApprovalRules approvals, EffectRules effects, LostCallRules lost, RemoteCallRules remote) {
        this.draft = draft;
        this.approvals = approvals;
        this.effects = effects;
        this.lost = lost;
        this.remote = remote;
    }

    void toolDispatched(ToolFact.ToolDispatched fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.ISSUED)
                .ifPresent(call -> draft.book.put(call.dispatched(fact.dispatch(), draft.at)));
    }

    void toolFinished(ToolFact.ToolFinished fact) {
        Optional<Call> running = draft.book.running(fact.callId(), fact.dispatch());
        if (running.isPresent()) {
            finish(running.get(), fact);
            return;
        }
        draft.book
                .calls // The turn may have been stopped meanwhile.
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.CANCELLED && call.dispatches() == fact.dispatch())
                .ifPresent(call -> countLate(call, fact));
    }

    private void finish(Call call, ToolFact.ToolFinished fact) {
        count(call, fact);
        draft.end(call, fact.isError() ? Call.Status.FAILED : Call.Status.COMPLETED, fact.content());
    }

    private void count(Call call, ToolFact.ToolFinished fact) {
        if (fact.isError()) {
            effects.failed(call, fact.notDone());
        } else {
            effects.done(call, true, fact.content());
        }
    }

    /** Counts the effect of a call after the model was told a different outcome. */
    private void countLate(Call call, ToolFact.ToolFinished fact) {
        count(call, fact);
        draft.book.put(draft.book.call(call.id()).withoutClaim());
    }

    void toolInterrupted(ToolFact.ToolInterrupted fact) {
        draft.book.running(fact.callId(), fact.dispatch()).ifPresent(call -> ask(call, fact));
    }

    private void ask(Call call, ToolFact.ToolInterrupted fact) {
        effects.done(call, false, "");
        draft.book.put(call.suspended(Optional.empty())
                .asking(fact.question(), draft.at)
                .expiring(draft.expiry()));
    }

    void toolLost(ToolFact.ToolLost fact) {
        draft.book.running(fact.callId(), fact.dispatch()).ifPresent(call -> {
            String reason = fact.problem().message();
            if (call.status() == Call.Status.FOLLOWING && Draft.isLeft(fact.problem())) {
                draft.book.put(call.remote(draft.at));
            } else if (call.claim().isPresent()) {
                if (fact.problem().type().equals(Problem.OUTCOME_UNKNOWN)) {
                    lost.doubt(call.seen(reason));
                } else if (fact.problem().type().equals(Problem.WORKER_ENDED)) {
                    lost.inquire(call.seen(reason));
                } else {
                    lost.awaitWord(call.seen(reason));
                }
                draft.reachVersionWhenBatchIsDone();
            } else if (Draft.isLeft(fact.problem())) {
                draft.book.put(call.issued(Draft.pause(call, draft.at), draft.at));
            } else if (draft.policyOf(call).effect()) {
                dispatchAgain(call, reason);
            } else {
                draft.end(call, Call.Status.FAILED, ToolTexts.failure(reason));
            }
        });
    }

    /** Applies the late outcome of the execution that holds the claim. */
    void toolEndedLate(ToolFact.ToolEndedLate fact) {
        Call call = draft.book.call(fact.callId());
        boolean isTold = !call.isOpen()
                && (call.status() == Call.Status.CANCELLED || call.result().isEmpty());
        if (fact.end() instanceof ToolFact.ToolFinished finished) {
            if (isTold) {
                countLate(call, finished);
            } else {
                finish(call, finished);
            }
        } else if (fact.end() instanceof ToolFact.ToolInterrupted question && call.isOpen()) {
            ask(call, question);
        } else if (fact.end() instanceof ToolFact.ToolSuspended suspended) {
            remote.suspendedLate(call, suspended.suspension());
        } else if (fact.end() instanceof ToolFact.ToolNotStarted notStarted) {
            if (call.isOpen()) {
                didNotStart(call, notStarted);
            } else {
                draft.book.put(call.withoutClaim());
            }
        }
    }

    void toolNotStarted(ToolFact.ToolNotStarted fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.dispatches() == fact.dispatch())
                .ifPresent(call -> notStarted(call, fact));
    }

    private void notStarted(Call call, ToolFact.ToolNotStarted fact) {
        boolean ownClaim = call.claim()
                .filter(claim -> claim.execution().equals(fact.execution()))
                .isPresent();
        switch (call.status()) {
            case DISPATCHED -> didNotStart(call, fact);
            case CLAIMED -> {
                if (ownClaim) {
                    didNotStart(call, fact);
                } else {
                    lost.awaitWord(call);
                    draft.reachVersionWhenBatchIsDone();
                }
            }
            case CANCELLED -> {
                if (ownClaim) {
                    draft.book.put(call.withoutClaim());
                }
            }
            case ISSUED,
                    HELD,
                    JUDGING,
                    AWAITING,
                    REMOTE,
                    FOLLOWING,
                    DELEGATED,
                    UNKNOWN,
                    DOUBTED,
                    VERIFYING,
                    UNSETTLED,
                    ASKING,
                    COMPLETED,
                    FAILED,
                    DENIED,
                    LOST -> {
                // The call does not wait for this dispatch any more.
            }
        }
    }

    private void didNotStart(Call call, ToolFact.ToolNotStarted fact) {
        if (fact.definition().isPresent()) {
            approvals.askAgain(call.withoutClaim(), fact.definition().get());
            draft.reachVersionWhenBatchIsDone();
        } else {
            dispatchAgain(call, fact.reason());
        }
    }

    /** Prepares a call that did not run for another dispatch. The model is told only if the call never runs. */
    private void dispatchAgain(Call call, String reason) {
        if (call.isSettledAsNotDone()) {
            lost.endAsNotDone(call.withoutClaim());
        } else if (call.dispatches() >= Conversation.MAX_DISPATCHES) {
            draft.end(call.withoutClaim(), Call.Status.FAILED, ToolTexts.failure("could not be started: " + reason));
        } else if (approvals.isMissingFor(call)) {
            approvals.askFor(call.withoutClaim()); // It was approved and claimed in a run that was undone.
            draft.reachVersionWhenBatchIsDone();
        } else if (call.dispatches() == 0) {
            draft.book.put(call.withoutClaim().held(draft.at)); // It was dispatched in a run that was undone.
        } else {
            draft.book.put(call.withoutClaim().issued(Draft.pause(call, draft.at), draft.at));
        }
    }
}
