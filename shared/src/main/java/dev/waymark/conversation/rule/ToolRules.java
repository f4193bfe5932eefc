package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.ProblemType;
import java.util.Optional;

/** Rules of dispatched calls: what each outcome of a dispatch does to its call. */
final class ToolRules {
    /** The maximum number of dispatches of a call that does not start. After that, the call fails. */
    static final int MAX_DISPATCHES = 20;

    private ToolRules() {}

    static void toolDispatched(Draft draft, ToolFact.ToolDispatched fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.ISSUED)
                .ifPresent(call -> draft.book.put(call.dispatched(fact.dispatch(), draft.at)));
    }

    static void toolFinished(Draft draft, ToolFact.ToolFinished fact) {
        Optional<Call> running = draft.book.running(fact.callId(), fact.dispatch());
        if (running.isPresent()) {
            finish(draft, running.get(), fact);
            return;
        }
        draft.book
                .calls // The turn may have been stopped meanwhile.
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.CANCELLED && call.dispatches() == fact.dispatch())
                .ifPresent(call -> countLate(draft, call, fact));
    }

    private static void finish(Draft draft, Call call, ToolFact.ToolFinished fact) {
        count(draft, call, fact);
        draft.end(call, fact.isError() ? Call.Status.FAILED : Call.Status.COMPLETED, fact.content());
    }

    private static void count(Draft draft, Call call, ToolFact.ToolFinished fact) {
        if (fact.isError()) {
            EffectRules.failed(draft, call, fact.notDone());
        } else {
            EffectRules.done(draft, call, true, fact.content());
        }
    }

    /** Counts the effect of a call that ends after the model was told another outcome. */
    private static void countLate(Draft draft, Call call, ToolFact.ToolFinished fact) {
        count(draft, call, fact);
        draft.book.put(draft.book.call(call.id()).withoutClaim());
    }

    static void toolInterrupted(Draft draft, ToolFact.ToolInterrupted fact) {
        draft.book.running(fact.callId(), fact.dispatch()).ifPresent(call -> ask(draft, call, fact));
    }

    private static void ask(Draft draft, Call call, ToolFact.ToolInterrupted fact) {
        EffectRules.done(draft, call, false, "");
        draft.book.put(call.suspended(Optional.empty())
                .asking(fact.question(), draft.at)
                .expiring(draft.expiry()));
    }

    static void toolLost(Draft draft, ToolFact.ToolLost fact) {
        draft.book.running(fact.callId(), fact.dispatch()).ifPresent(call -> {
            String reason = fact.problem().message();
            if (call.status() == Call.Status.FOLLOWING && Draft.isLeft(fact.problem())) {
                draft.book.put(call.remote(draft.at));
            } else if (call.claim().isPresent()) {
                if (fact.problem().type().equals(ProblemType.OUTCOME_UNKNOWN)) {
                    LostCallRules.checkAfterFence(draft, call.seen(reason));
                } else if (fact.problem().type().equals(ProblemType.WORKER_ENDED)) {
                    LostCallRules.checkAtOnce(draft, call.seen(reason));
                } else {
                    LostCallRules.awaitReport(draft, call.seen(reason));
                }
                draft.reachVersionWhenBatchIsDone();
            } else if (Draft.isLeft(fact.problem())) {
                draft.book.put(call.issued(Draft.pause(call, draft.at), draft.at));
            } else if (draft.policyOf(call).effect()) {
                dispatchAgain(draft, call, reason);
            } else {
                draft.end(call, Call.Status.FAILED, ToolTexts.failure(reason));
            }
        });
    }

    /** Applies the late outcome of the execution that holds the claim. */
    static void toolEndedLate(Draft draft, ToolFact.ToolEndedLate fact) {
        Call call = draft.book.call(fact.callId());
        boolean isTold = !call.isOpen()
                && (call.status() == Call.Status.CANCELLED || call.result().isEmpty());
        if (fact.end() instanceof ToolFact.ToolFinished finished) {
            if (isTold) {
                countLate(draft, call, finished);
            } else {
                finish(draft, call, finished);
            }
        } else if (fact.end() instanceof ToolFact.ToolInterrupted question && call.isOpen()) {
            ask(draft, call, question);
        } else if (fact.end() instanceof ToolFact.ToolSuspended suspended) {
            RemoteCallRules.suspendedLate(draft, call, suspended.suspension());
        } else if (fact.end() instanceof ToolFact.ToolNotStarted notStarted) {
            if (call.isOpen()) {
                didNotStart(draft, call, notStarted);
            } else {
                draft.book.put(call.withoutClaim());
            }
        }
    }

    static void toolNotStarted(Draft draft, ToolFact.ToolNotStarted fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.dispatches() == fact.dispatch())
                .ifPresent(call -> notStarted(draft, call, fact));
    }

    private static void notStarted(Draft draft, Call call, ToolFact.ToolNotStarted fact) {
        boolean ownClaim = call.claim()
                .filter(claim -> claim.execution().equals(fact.execution()))
                .isPresent();
        switch (call.status()) {
            case DISPATCHED -> didNotStart(draft, call, fact);
            case CLAIMED -> {
                if (ownClaim) {
                    didNotStart(draft, call, fact);
                } else {
                    LostCallRules.awaitReport(draft, call);
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
                // The call no longer waits for this dispatch.
            }
        }
    }

    private static void didNotStart(Draft draft, Call call, ToolFact.ToolNotStarted fact) {
        if (fact.definition().isPresent()) {
            ApprovalRules.askAgain(draft, call.withoutClaim(), fact.definition().get());
            draft.reachVersionWhenBatchIsDone();
        } else {
            dispatchAgain(draft, call, fact.reason());
        }
    }

    /** Prepares a call that did not run for another dispatch, or ends it. */
    private static void dispatchAgain(Draft draft, Call call, String reason) {
        if (call.isSettledAsNotDone()) {
            LostCallRules.endAsNotDone(draft, call.withoutClaim());
        } else if (call.dispatches() >= MAX_DISPATCHES) {
            draft.end(call.withoutClaim(), Call.Status.FAILED, ToolTexts.failure("could not be started: " + reason));
        } else if (ApprovalRules.isMissingFor(draft, call)) {
            ApprovalRules.askFor(draft, call.withoutClaim()); // A reset undid its approval.
            draft.reachVersionWhenBatchIsDone();
        } else if (call.dispatches() == 0) {
            draft.book.put(call.withoutClaim().held(draft.at)); // A reset undid its dispatch.
        } else {
            draft.book.put(call.withoutClaim().issued(Draft.pause(call, draft.at), draft.at));
        }
    }
}
