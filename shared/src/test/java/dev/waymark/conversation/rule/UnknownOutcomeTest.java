package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.START;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.result;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.claimed;
import static dev.waymark.conversation.rule.ToolConversationScript.dispatched;
import static dev.waymark.conversation.rule.ToolConversationScript.endedLate;
import static dev.waymark.conversation.rule.ToolConversationScript.finished;
import static dev.waymark.conversation.rule.ToolConversationScript.lost;
import static dev.waymark.conversation.rule.ToolConversationScript.notStarted;
import static dev.waymark.conversation.rule.ToolConversationScript.replied;
import static dev.waymark.conversation.rule.ToolConversationScript.settled;
import static dev.waymark.conversation.rule.ToolConversationScript.timedOut;
import static dev.waymark.conversation.rule.ToolConversationScript.verified;
import static dev.waymark.conversation.rule.ToolConversationScript.workerEnded;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls with an unknown outcome, late reports about them, and the keys and fencing tokens that prevent a second effect.
 */
class UnknownOutcomeTest {
    private static final Duration LONGEST_WAIT_FOR_REPORT = Duration.ofSeconds(20);

    // ---- reporting the unknown outcome

    @Test
    void unknownOutcome_isReportedToTheModelAtOnceWithItsEvidence() {
        ConversationScript script = claimedCall("charge").with(lost("a", 1));

        assertThat(script.call("a").status()).isEqualTo(Call.Status.LOST);
        assertThat(script.call("a").result().orElseThrow()).contains(" What was seen of it: HTTP 504\",");
    }

    @Test
    void unknownOutcome_isShownToThePersonWhoIsAsked() {
        ConversationScript script = claimedCall("sign").with(lost("a", 1));

        assertThat(script.state().asks()).hasSize(1).first().returns(Optional.of("HTTP 504"), PendingItem::evidence);
    }

    @Test
    void unknownOutcome_withLongEvidence_isCut() {
        Problem seen = new Problem(ProblemType.OUTCOME_UNKNOWN, "x".repeat(1_000));
        ConversationScript script = claimedCall("sign").with(new ToolFact.ToolLost("a", 1, seen));

        assertThat(script.call("a").evidence().orElseThrow()).hasSize(500);
    }

    // ---- keys

    @Test
    void errorOfTheTool_leavesTheKeyToTheNextCall() {
        ConversationScript script =
                claimedCall("charge").with(new ToolFact.ToolFinished("a", 1, "Tool error: no", true));

        assertThat(called(script).call("b").repeat()).isZero();
    }

    @Test
    void errorWithProofOfNoEffect_usesTheKeyUp() {
        ConversationScript script =
                claimedCall("charge").with(new ToolFact.ToolFinished("a", 1, "Tool error: no", true, true));

        assertThat(called(script).call("b").repeat()).isEqualTo(1);
    }

    private static ConversationScript called(ConversationScript script) {
        return script.with(new ModelFact.ModelCalled(2), reply(2, use("b", "charge")));
    }

    // ---- fencing tokens

    @Test
    void fencingToken_growsWithEveryClaimOfIdenticalCalls() {
        Instant at = START.plusSeconds(60);
        ConversationScript script = replied(use("a", "charge"), use("b", "charge"), use("c", "pay"))
                .at(at, dispatched("a", 1), claimed("a", 1, "charge", "x"), notStarted("a", 1, "x"))
                .at(at, dispatched("a", 2), claimed("a", 2, "charge", "y"), finished("a", 2, "paid"))
                .at(at.minusSeconds(30), dispatched("b", 1), claimed("b", 1, "charge", "z"))
                .at(at, dispatched("c", 1), claimed("c", 1, "pay", "w"));

        assertThat(token(script, "a")).isEqualTo(at.toEpochMilli() + 1);
        assertThat(token(script, "b")).isEqualTo(at.toEpochMilli() + 2);
        assertThat(token(script, "c")).isEqualTo(at.toEpochMilli());
    }

    private static long token(ConversationScript script, String id) {
        return script.call(id).claim().orElseThrow().token();
    }

    // ---- running again

    @Test
    void notLanded_ifALateEffectIsPossible_isNotRunAgain() {
        assertThat(verifying("post").with(verified("a", 1, false)).call("a").status())
                .isEqualTo(Call.Status.UNSETTLED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pay", "send"})
    void notLanded_ifTheKeyIsHonouredOrTheCheckForbids_isRunAgain(String tool) {
        ConversationScript script = verifying(tool).with(verified("a", 1, false));

        assertThat(script.decides()).containsExactly(new Step.RunTool(script.call("a"), 2));
    }

    @Test
    void rerun_ifTheKeyIsNotHonoured_isRefused() {
        ConversationScript script = verifying("post").with(verified("a", 1, false));

        assertThat(script.refusal(settled("a", CallSettlement.Outcome.RERUN))).contains(ProblemType.BAD_INPUT);
        assertThat(script.refusal(settled("a", CallSettlement.Outcome.DONE))).isEmpty();
    }

    /**
     * A checkpoint does not record whether a call was claimed. Without a claim, no time is known after which a check
     * is reliable.
     */
    @ParameterizedTest
    @ValueSource(strings = {"pay", "wire", "post"})
    void notLanded_ofACallFromACheckpoint_isVerifiedOnce(String tool) {
        Conversation over = replied(use("a", tool)).with(dispatched("a", 1)).state();
        Call begun = over.calls().get("a").orElseThrow().begunElsewhere(Call.Status.CLAIMED);
        Draft draft = new Draft(over, START.plusSeconds(20)); // A checkpoint is read like this, without claims.
        draft.book.put(begun);
        Resumption how =
                new Resumption("r-1", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty());
        Conversation resumed = Rules.resume(draft.state(), how, START.plusSeconds(30));
        Instant fence = resumed.calls().get("a").orElseThrow().wakeAt().orElseThrow();

        Conversation checked = Rules.apply(
                Rules.apply(
                        Rules.apply(resumed, new ThreadFact.TimePassed(), fence),
                        new ToolFact.VerifyDispatched("a", 1),
                        fence.plusMillis(1)),
                verified("a", 1, false),
                fence.plusMillis(2));

        Call.Status status = checked.calls().get("a").orElseThrow().status();
        assertThat(status)
                .isEqualTo(
                        switch (tool) {
                            case "pay" -> Call.Status.ISSUED;
                            case "post" -> Call.Status.UNSETTLED;
                            default -> Call.Status.LOST;
                        });
    }

    @Test
    void notLanded_ofACallOfThisThread_isReportedWithoutTheCheck() {
        ConversationScript script = verifying("wire").with(verified("a", 1, false));

        assertThat(script.call("a"))
                .returns(Call.Status.LOST, Call::status)
                .extracting(call -> call.result().orElseThrow(), InstanceOfAssertFactories.STRING)
                .doesNotContain("a check found");
    }

    // ---- settled as not done

    @Test
    void settlement_ofACallThatIsNotUnsettled_isRefusedWithItsType() {
        ConversationScript safe = replied(use("a", "add")).with(dispatched("a", 1), finished("a", 1, "3"));
        ConversationScript claimed = claimedCall("charge");

        assertThat(safe.refusal(settledAsNotDone("a"))).contains(ProblemType.NOT_FOUND);
        assertThat(claimed.refusal(settledAsNotDone("a"))).contains(ProblemType.NOT_FOUND);
        assertThat(claimed.with(finished("a", 1, "paid")).refusal(settledAsNotDone("a")))
                .contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void notDone_afterTheFence_isReportedToTheModelAndKeepsTheKey() {
        ConversationScript script = claimedCall("sign").with(lost("a", 1));
        script.at(fence(script), settledAsNotDone("a"));

        assertThat(script.call("a").status()).isEqualTo(Call.Status.FAILED);
        assertThat(script.call("a").toolResult())
                .contains(new Part.ToolResult(
                        "a",
                        "Tool error: the call did not take effect, as settled by ann. Its outcome had been unknown."
                                + " It does not run again by itself.",
                        true));
        assertThat(script.decides()).containsExactly(new Step.CallModel(2));
        assertThat(script.with(new ModelFact.ModelCalled(2), reply(2, use("b", "sign")))
                        .call("b")
                        .repeat())
                .isZero();
        assertThat(script.refusal(settledAsNotDone("a"))).contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void notDone_keepsItsNoteWithTheCall() {
        ConversationScript script = claimedCall("sign").with(lost("a", 1));
        script.at(fence(script), settledAsNotDone("a"));

        assertThat(script.call("a").settlement())
                .contains(new CallSettlement(
                        CallSettlement.Outcome.NOT_DONE,
                        Optional.of("ann"),
                        Optional.empty(),
                        Optional.of("not on the statement"),
                        fence(script)));
        script.with(new PersonFact.Cleared(false, NONE));
        assertThat(script.call("a").settlement().orElseThrow())
                .returns(NONE, CallSettlement::by)
                .returns(NONE, CallSettlement::note);
    }

    @Test
    void notDone_beforeTheFence_waitsForTheFence() {
        ConversationScript script = claimedCall("sign").with(lost("a", 1), settledAsNotDone("a"));

        assertThat(script.decides()).containsExactly(new Step.WakeAt(fence(script)));
        assertThat(script.refusal(settledAsNotDone("a"))).contains(ProblemType.ALREADY_DECIDED);
        script.at(fence(script), new ThreadFact.TimePassed());
        assertThat(script.call("a").status()).isEqualTo(Call.Status.FAILED);
        assertThat(script.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void notDone_withAReportBeforeTheFence_hasTheReportedResult() {
        ConversationScript script = claimedCall("sign").with(lost("a", 1), settledAsNotDone("a"));
        script.with(endedLate("a", "x", finished("a", 1, "signed")));

        assertThat(script.call("a").toolResult()).contains(result("a", "signed"));
    }

    @Test
    void notDone_withoutAStartedExecution_isNotRunAgain() {
        ConversationScript script = claimedCall("sign").with(lost("a", 1), settledAsNotDone("a"));
        script.with(endedLate("a", "x", notStarted("a", 1, "x")));

        assertThat(script.call("a").status()).isEqualTo(Call.Status.FAILED);
        assertThat(script.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void notDone_withAReportAfterTheModelWasTold_usesTheKeyUp() {
        ConversationScript script = claimedCall("sign").with(lost("a", 1));
        script.at(fence(script), settledAsNotDone("a"), new ModelFact.ModelCalled(2));
        script.with(endedLate("a", "x", finished("a", 1, "signed")), reply(2, use("b", "sign")));

        assertThat(script.call("a").status()).isEqualTo(Call.Status.FAILED);
        assertThat(script.call("b").repeat()).isEqualTo(1);
    }

    @Test
    void notDone_holdsAnIdenticalCallUntilTheFence() {
        ConversationScript script = replied(use("a", "sign"), use("b", "sign"))
                .with(dispatched("a", 1), claimed("a", 1, "sign", "x"), lost("a", 1), settledAsNotDone("a"));
        assertThat(script.call("b").status()).isEqualTo(Call.Status.HELD);

        script.at(fence(script), new ThreadFact.TimePassed());
        assertThat(script.decides()).containsExactly(new Step.RunTool(script.call("b"), 1));
        assertThat(script.call("b").repeat()).isZero();
    }

    @Test
    void outcomes_withoutRerun_sayWhy() {
        PendingItem sign = claimedCall("sign").with(lost("a", 1)).state().asks().get(0);
        PendingItem mail = claimedCall("mail").with(lost("a", 1)).state().asks().get(0);

        assertThat(sign.outcomes()).containsExactly("done", "not-done", "give-up");
        assertThat(sign.whyNoRerun().orElseThrow()).contains("honours_key", "verify_forbids");
        assertThat(mail.outcomes()).containsExactly("done", "not-done", "rerun", "give-up");
        assertThat(mail.whyNoRerun()).isEmpty();
    }

    private static Instant fence(ConversationScript script) {
        return script.call("a").claim().orElseThrow().at().plusSeconds(60 + 5);
    }

    private static PersonFact.OutcomeSettled settledAsNotDone(String callId) {
        return new PersonFact.OutcomeSettled(
                callId,
                CallSettlement.Outcome.NOT_DONE,
                NONE,
                Optional.of("ann"),
                Optional.of("not on the statement"),
                NONE,
                Optional.empty());
    }

    // ---- late outcomes

    @Test
    void timedOutCall_waitsForAReport_andIsThenLost() {
        ConversationScript script = claimedCall("charge").with(timedOut("a", 1));
        Instant until = START.plusSeconds(8).plus(LONGEST_WAIT_FOR_REPORT);
        assertThat(script.decides()).containsExactly(new Step.WakeAt(until));

        assertThat(script.at(until, new ThreadFact.TimePassed()).call("a").status())
                .isEqualTo(Call.Status.LOST);
        assertThat(script.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void timedOutCall_nearItsFence_waitsUntilTheFence() {
        ConversationScript script = claimedCall("charge").at(START.plusSeconds(60), timedOut("a", 1));

        assertThat(script.decides()).containsExactly(new Step.WakeAt(START.plusSeconds(7 + 65)));
    }

    @Test
    void timedOutCall_afterItsFence_stillWaitsForALateReport() {
        Instant at = START.plusSeconds(100);
        ConversationScript script = claimedCall("charge").at(at, timedOut("a", 1));
        assertThat(script.decides()).containsExactly(new Step.WakeAt(at.plusSeconds(10)));

        script.at(at.plusSeconds(3), endedLate("a", "x", finished("a", 1, "paid")));
        assertThat(script.call("a").toolResult()).contains(result("a", "paid"));
    }

    @Test
    void timedOutCall_afterItsFenceWithoutAReport_isLost() {
        Instant at = START.plusSeconds(100);
        ConversationScript script = claimedCall("charge").at(at, timedOut("a", 1));
        script.at(at.plusSeconds(10), new ThreadFact.TimePassed());

        assertThat(script.call("a").status()).isEqualTo(Call.Status.LOST);
        assertThat(script.decides()).containsExactly(new Step.CallModel(2));
    }

    // ---- workers that are known to have ended

    @Test
    void endedWorker_withoutACheck_isReportedAtOnce() {
        ConversationScript script = claimedCall("charge").with(workerEnded("a", 1));

        assertThat(script.call("a").status()).isEqualTo(Call.Status.LOST);
        assertThat(script.call("a").result().orElseThrow()).contains(" What was seen of it: the worker has ended");
        assertThat(script.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void endedWorker_beforeItsClaim_isDispatchedAgainWithGrowingDelays() {
        ConversationScript script = replied(use("a", "charge")).with(dispatched("a", 1), workerEnded("a", 1));
        assertThat(script.decides()).containsExactly(new Step.RunTool(script.call("a"), 2));

        Instant at = START.plusSeconds(60);
        script.at(at, dispatched("a", 2), workerEnded("a", 2));
        assertThat(script.decides()).containsExactly(new Step.WakeAt(at.plusSeconds(1)));
    }

    @Test
    void endedWorker_ofAToolThatAPersonSettles_isUnsettled() {
        assertThat(claimedCall("sign").with(workerEnded("a", 1)).call("a").status())
                .isEqualTo(Call.Status.UNSETTLED);
    }

    @Test
    void endedWorker_isCheckedAtOnce_andAnEffectCounts() {
        ConversationScript script = checkedEarly("pay");
        script.with(verified("a", 1, true));

        assertThat(script.call("a").status()).isEqualTo(Call.Status.COMPLETED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"post", "pay", "send"})
    void endedWorker_checkedBeforeTheFenceWithoutEffect_staysUndecided(String tool) {
        ConversationScript script = checkedEarly(tool).with(verified("a", 1, false));
        assertThat(script.call("a").status()).isEqualTo(Call.Status.UNKNOWN);

        Instant fence = script.call("a").wakeAt().orElseThrow();
        script.at(fence, new ThreadFact.TimePassed());
        assertThat(script.decides()).containsExactly(new Step.VerifyTool(script.call("a")));
    }

    @Test
    void endedWorker_checkedBeforeTheFence_withoutAnAnswer_isCheckedAgain() {
        ConversationScript script =
                checkedEarly("post").with(new ToolFact.ToolVerified("a", 1, Optional.empty(), Optional.empty()));

        assertThat(script.call("a").status()).isEqualTo(Call.Status.UNKNOWN);
    }

    private static ConversationScript checkedEarly(String tool) {
        ConversationScript script = claimedCall(tool).with(workerEnded("a", 1));
        assertThat(script.decides()).containsExactly(new Step.VerifyTool(script.call("a")));
        return script.with(new ToolFact.VerifyDispatched("a", 1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"charge", "pay", "sign"})
    void lateOutcome_ofTheClaimedExecution_isTheResult(String tool) {
        ConversationScript script = claimedCall(tool).with(timedOut("a", 1));
        ToolFact.ToolEndedLate late = endedLate("a", "x", finished("a", 1, "paid"));
        assertThat(script.refusal(late)).isEmpty();
        script.with(late);

        assertThat(script.call("a").toolResult()).contains(result("a", "paid"));
        assertThat(script.decides()).containsExactly(new Step.CallModel(2));
        assertThat(script.refusal(late)).contains(ProblemType.ALREADY_DECIDED);
        assertThat(script.with(new ModelFact.ModelCalled(2), reply(2, use("b", tool)))
                        .call("b")
                        .repeat())
                .isEqualTo(1);
    }

    @Test
    void lateOutcome_duringTheCheck_overridesTheCheck() {
        ConversationScript script = verifying("pay").with(endedLate("a", "x", finished("a", 1, "paid")));
        script.with(verified("a", 1, false));

        assertThat(script.call("a").toolResult()).contains(result("a", "paid"));
    }

    @Test
    void lateOutcome_beforeItsRerun_isTheResult() {
        ConversationScript script =
                claimedCall("mail").with(timedOut("a", 1), settled("a", CallSettlement.Outcome.RERUN));
        script.with(endedLate("a", "x", finished("a", 1, "sent")));

        assertThat(script.call("a").toolResult()).contains(result("a", "sent"));
    }

    @Test
    void lateOutcome_afterTheModelWasTold_countsForTheNextCall() {
        ConversationScript script = claimedCall("book").with(lost("a", 1), new ModelFact.ModelCalled(2));
        script.with(endedLate("a", "x", finished("a", 1, "seat 7")), reply(2, use("b", "book")));

        assertThat(script.call("a").status()).isEqualTo(Call.Status.LOST);
        assertThat(script.call("b").toolResult()).contains(result("b", "[idempotent replay of a]: seat 7"));
    }

    @Test
    void lateReportOfNoStart_dispatchesTheCallAgain() {
        ConversationScript script = claimedCall("charge").with(timedOut("a", 1));
        script.with(endedLate("a", "x", notStarted("a", 1, "x")));

        assertThat(script.decides()).containsExactly(new Step.RunTool(script.call("a"), 2));
    }

    @Test
    void lateQuestion_isAsked() {
        ConversationScript script = claimedCall("charge").with(timedOut("a", 1));
        script.with(endedLate("a", "x", new ToolFact.ToolInterrupted("a", 1, "Which card?")));

        assertThat(script.call("a").question()).contains("Which card?");
        assertThat(script.state().isInterrupted()).isTrue();
    }

    @Test
    void lateOutcome_ofAnotherExecution_isRefusedWithItsType() {
        ConversationScript script = claimedCall("charge").with(timedOut("a", 1));

        assertThat(script.refusal(endedLate("a", "y", finished("a", 1, "paid"))))
                .contains(ProblemType.ALREADY_DECIDED);
        assertThat(script.refusal(endedLate("z", "x", finished("z", 1, "paid"))))
                .contains(ProblemType.NOT_FOUND);
    }

    @Test
    void lateOutcome_ofACancelledCall_countsForTheNextCall() {
        ConversationScript script = claimedCall("charge").with(new PersonFact.Stopped(NONE));
        script.with(endedLate("a", "x", finished("a", 1, "paid")), said("Again"), new ModelFact.ModelCalled(2));

        assertThat(script.with(reply(2, use("b", "charge"))).call("b").repeat()).isEqualTo(1);
    }

    @Test
    void controlCharactersOfACallsId_areReplaced() {
        ConversationScript script = replied(new Part.ToolUse("a\u0000\u001b", "charge", Json.EMPTY_OBJECT));

        assertThat(script.call("a__").tool()).isEqualTo("charge");
    }

    private static ConversationScript claimedCall(String tool) {
        return replied(use("a", tool)).with(dispatched("a", 1), claimed("a", 1, tool, "x"));
    }

    private static ConversationScript verifying(String tool) {
        ConversationScript script = claimedCall(tool).with(timedOut("a", 1));
        return script.at(script.call("a").wakeAt().orElseThrow(), new ThreadFact.TimePassed())
                .with(new ToolFact.VerifyDispatched("a", 1));
    }
}
