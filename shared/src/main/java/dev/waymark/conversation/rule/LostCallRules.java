package dev.waymark.conversation.rule;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.EffectLog;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.DecisionSignature;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Rules of lost calls: calls that were claimed and whose outcome is unknown. They are verified, settled by a person,
 * run again, or given up.
 */
final class LostCallRules {
    /** The time after a call's timeout by which all of its processes have been killed. */
    static final Duration FENCE = Duration.ofSeconds(5);

    /**
     * How long the turn waits at most for the late report of a lost call. Workers reconnect to a server in half that
     * time.
     */
    private static final Duration LONGEST_WAIT_FOR_REPORT = Duration.ofSeconds(20);

    /**
     * How long the turn waits at least for the late report of a lost call. The report may be on its way even if the
     * call can no longer be running.
     */
    private static final Duration SHORTEST_WAIT_FOR_REPORT = Duration.ofSeconds(10);

    private LostCallRules() {}

    /**
     * Handles a call whose claimed execution is lost to the server but may still be running. A tool's check starts as
     * soon as the call can no longer be running. Without a check, a person is asked at once to settle the call. If the
     * tool has neither, the execution gets some time to report before the model is told that the outcome is unknown,
     * even if its timeout has passed. In all cases, a report that arrives first decides the outcome.
     */
    static void awaitReport(Draft draft, Call call) {
        AgentPolicy.ToolPolicy policy = draft.policyOf(call);
        if (policy.verify() || policy.ask()) {
            checkAfterFence(draft, call);
        } else {
            Instant until = earlier(fenceOf(draft, call), draft.at.plus(LONGEST_WAIT_FOR_REPORT));
            draft.book.put(call.unknown(later(until, draft.at.plus(SHORTEST_WAIT_FOR_REPORT)), draft.at));
        }
    }

    /**
     * Handles a claimed call that cannot report its outcome, for example because its worker has ended. A tool's check
     * starts at once. Requests that the execution has sent may still take effect until the fence, so an earlier check
     * is only accepted if it finds the effect.
     */
    static void checkAtOnce(Draft draft, Call call) {
        if (draft.policyOf(call).verify()) {
            draft.book.put(call.doubted(draft.at));
        } else {
            askOrGiveUp(draft, call);
        }
    }

    private static Instant earlier(Instant a, Instant b) {
        return a.isBefore(b) ? a : b;
    }

    private static Instant later(Instant a, Instant b) {
        return a.isAfter(b) ? a : b;
    }

    /** Handles a call for which the time to report is over. */
    static void giveUpWaiting(Draft draft, Call call) {
        if (call.isSettledAsNotDone()) {
            endAsNotDone(draft, call);
        } else {
            checkAtOnce(draft, call);
            draft.reachVersionWhenBatchIsDone();
        }
    }

    /**
     * Determines the outcome of a claimed call without waiting for its report. A tool's check starts as soon as the
     * call can no longer be running. Without a check, a person settles the call, or the model is told that the outcome
     * is unknown. Drops an earlier decision of a person about the outcome.
     */
    static void checkAfterFence(Draft draft, Call lost) {
        Call call = lost.withoutSettlement();
        if (draft.policyOf(call).verify() && fenceOf(draft, call).isAfter(draft.at)) {
            draft.book.put(call.unknown(fenceOf(draft, call), draft.at));
        } else {
            checkAtOnce(draft, call);
        }
    }

    /**
     * Lets the call take over the claim and the key of an execution that a reset has undone, and determines its outcome
     * before the call runs.
     */
    static void adoptUndoneExecution(Draft draft, Call call, EffectLog.Remembered undone) {
        draft.book.put(call, draft.book.effectOf(call).forgetting(undone));
        checkAfterFence(draft, call.repeating(undone.repeat()).claimedLater(undone.claim()));
    }

    static void askOrGiveUp(Draft draft, Call call) {
        if (draft.policyOf(call).ask()) {
            draft.book.put(call.unsettled(draft.at).expiring(draft.expiry()));
        } else {
            giveUp(draft, call);
        }
    }

    static void giveUp(Draft draft, Call call) {
        draft.book.put(call.ended(
                Call.Status.LOST,
                ToolTexts.durability(call.tool(), call.id(), call.claim().map(Call.Claim::at), call.evidence()),
                draft.at));
        if (draft.policyOf(call).dedupe()) {
            // Held calls would return this call's result. Without a result, they are lost too.
            draft.book.openCalls().stream()
                    .filter(other -> other.isHeld() && other.identity().equals(call.identity()))
                    .forEach(twin -> draft.book.put(twin.ended(
                            Call.Status.LOST,
                            ToolTexts.durability(twin.tool(), twin.id(), Optional.empty(), Optional.empty()),
                            draft.at)));
        }
    }

    /** The time by which a worker or its launcher has ended the call, and any identical call that a reset removed. */
    private static Instant fenceOf(Draft draft, Call call) {
        Instant claimedAt = Stream.concat(
                        call.claim().stream(),
                        draft.book.effectOf(call).remembered().stream().map(EffectLog.Remembered::claim))
                .map(Call.Claim::at)
                .max(Instant::compareTo)
                .orElse(draft.at);
        return claimedAt.plusMillis(draft.policyOf(call).timeoutMillis()).plus(FENCE);
    }

    /** The time until which an earlier execution of the call may still run; empty if none may. */
    static Optional<Instant> pendingFence(Draft draft, Call call) {
        return call.claim().map(claim -> fenceOf(draft, call)).filter(time -> time.isAfter(draft.at));
    }

    /**
     * Runs the call again. Keeps the claim until the earlier execution can no longer be running, since a person may
     * have decided too early that it had no effect.
     */
    private static void runAgain(Draft draft, Call call) {
        Call kept = (call.task().isPresent() ? call.suspended(Optional.empty()) : call)
                .withMayHaveRun(false)
                .withUsedKey();
        Call again = pendingFence(draft, call).isPresent() ? kept : kept.withoutClaim();
        if (ApprovalRules.isDeniedByRules(draft, call)) {
            ApprovalRules.denyByRules(draft, again);
        } else if (ApprovalRules.isMissingFor(draft, call)) {
            ApprovalRules.askFor(draft, again); // A reset undid the approval, or the call is from a file.
        } else {
            draft.book.put(again.issued(pendingFence(draft, again), draft.at));
        }
        draft.reachVersionWhenBatchIsDone();
    }

    static void verifyDispatched(Draft draft, ToolFact.VerifyDispatched fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.DOUBTED)
                .ifPresent(call -> draft.book.put(call.verifying(draft.at)));
    }

    static void toolVerified(Draft draft, ToolFact.ToolVerified fact) {
        Optional<Call> verified = draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.VERIFYING && call.dispatches() == fact.dispatch());
        verified.ifPresent(call -> {
            if (fact.landed().orElse(false)) {
                settleAsDone(draft, call, fact.result().orElseGet(ToolTexts::verified));
            } else if (wasTooEarly(draft, call)) {
                checkAfterFence(draft, call); // The check started early, or another claim was found during it.
            } else if (fact.landed().isPresent() && draft.policyOf(call).mayRerunOnCheck()) {
                runAgain(draft, call);
            } else {
                boolean isAllThatIsKnown = fact.landed().isPresent()
                        && call.claim().filter(claim -> !claim.isElsewhere()).isEmpty();
                askOrGiveUp(draft, isAllThatIsKnown ? call.seen(ToolTexts.foundNoEffect()) : call);
                draft.reachVersionWhenBatchIsDone();
            }
        });
    }

    /**
     * Whether the call may have taken effect after the check started. Without a known claim, as for some calls from a
     * checkpoint, the end of the call is unknown, and the result of the check is accepted.
     */
    private static boolean wasTooEarly(Draft draft, Call call) {
        boolean isClaimed = call.claim().isPresent()
                || !draft.book.effectOf(call).remembered().isEmpty();
        return isClaimed && fenceOf(draft, call).isAfter(call.since());
    }

    /** Makes the check due again, because a worker left it to other workers. */
    static void verifyLeft(Draft draft, ToolFact.VerifyLeft fact) {
        draft.book
                .calls
                .get(fact.callId())
                .filter(call -> call.status() == Call.Status.VERIFYING && call.dispatches() == fact.dispatch())
                .ifPresent(call -> draft.book.put(call.doubted(draft.at)));
    }

    static void settle(
            Draft draft, Call unsettled, PersonFact.OutcomeSettled fact, Optional<DecisionSignature> signed) {
        Call call = unsettled.settled(
                new CallSettlement(fact.settlement(), fact.by(), fact.verified(), fact.note(), draft.at, signed));
        switch (fact.settlement()) {
            case DONE -> settleAsDone(draft, call, fact.result().orElseGet(() -> ToolTexts.done(fact.by())));
            case NOT_DONE -> settleAsNotDone(draft, call);
            case RERUN -> runAgain(draft, call);
            case GIVE_UP -> {
                giveUp(draft, call);
                draft.reachVersionWhenBatchIsDone();
            }
        }
    }

    /**
     * Ends a call that did not take effect according to a person, as soon as it can no longer be running. Until then, a
     * report of its execution overrides that decision.
     */
    private static void settleAsNotDone(Draft draft, Call call) {
        Optional<Instant> fence = pendingFence(draft, call);
        if (fence.isPresent()) {
            draft.book.put(call.unknown(fence.get(), draft.at));
        } else {
            endAsNotDone(draft, call);
        }
    }

    /** The next identical call keeps the key, since a person's decision does not prove that nothing took effect. */
    static void endAsNotDone(Draft draft, Call call) {
        draft.end(call, Call.Status.FAILED, ToolTexts.notDone(call.settlement().flatMap(CallSettlement::by)));
    }

    private static void settleAsDone(Draft draft, Call call, String text) {
        EffectRules.done(draft, call, true, text);
        draft.end(call, Call.Status.COMPLETED, text);
    }

    /** Postpones the decision about this call, because an identical call may still take effect. */
    static void postpone(Draft draft, Call call) {
        switch (call.status()) {
            case UNKNOWN, DOUBTED -> checkAfterFence(draft, call);
            case ISSUED -> draft.book.put(call.issued(pendingFence(draft, call), draft.at));
            case HELD,
                    JUDGING,
                    AWAITING,
                    DISPATCHED,
                    CLAIMED,
                    REMOTE,
                    FOLLOWING,
                    DELEGATED,
                    VERIFYING,
                    UNSETTLED,
                    ASKING,
                    COMPLETED,
                    FAILED,
                    DENIED,
                    CANCELLED,
                    LOST -> {
                // These calls check the fence when they run or are decided.
            }
        }
    }
}
