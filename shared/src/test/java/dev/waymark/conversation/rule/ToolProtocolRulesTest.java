package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.ask;
import static dev.waymark.conversation.rule.ConversationScript.error;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.result;
import static dev.waymark.conversation.rule.ConversationScript.results;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.DIGEST;
import static dev.waymark.conversation.rule.ToolConversationScript.approved;
import static dev.waymark.conversation.rule.ToolConversationScript.claimed;
import static dev.waymark.conversation.rule.ToolConversationScript.dispatched;
import static dev.waymark.conversation.rule.ToolConversationScript.durability;
import static dev.waymark.conversation.rule.ToolConversationScript.endedLate;
import static dev.waymark.conversation.rule.ToolConversationScript.finished;
import static dev.waymark.conversation.rule.ToolConversationScript.lost;
import static dev.waymark.conversation.rule.ToolConversationScript.notStarted;
import static dev.waymark.conversation.rule.ToolConversationScript.replied;
import static dev.waymark.conversation.rule.ToolConversationScript.restored;
import static dev.waymark.conversation.rule.ToolConversationScript.settled;
import static dev.waymark.conversation.rule.ToolConversationScript.verified;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims, and the handling of claimed calls whose outcome is not reported. */
class ToolProtocolRulesTest {
    private static final Duration FENCE = Duration.ofSeconds(65);

    // ---- claims

    @Test
    void claim_ofTheOpenDispatch_isGrantedOnce() {
        ConversationScript story = replied(use("a", "charge")).with(dispatched("a", 1));
        assertThat(story.refusal(claimed("a", 1, "charge", "x"))).isEmpty();

        story.with(claimed("a", 1, "charge", "x"));
        assertThat(story.call("a").status()).isEqualTo(Call.Status.CLAIMED);
        assertThat(story.refusal(claimed("a", 1, "charge", "y"))).contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void claim_ofAnythingElse_isRefusedWithItsType() {
        ConversationScript story = replied(use("a", "charge"), use("b", "add"), use("c", "charge"))
                .with(dispatched("a", 1), dispatched("b", 1));

        assertThat(story.refusal(claimed("z", 1, "charge", "x"))).contains(ProblemType.NOT_FOUND);
        assertThat(story.refusal(claimed("a", 2, "charge", "x"))).contains(ProblemType.ALREADY_DECIDED);
        assertThat(story.refusal(claimed("a", 1, "pay", "x"))).contains(ProblemType.ALREADY_DECIDED);
        assertThat(story.refusal(new ToolFact.ToolClaimed("a", 1, "charge", "other", 0, "x", false)))
                .contains(ProblemType.ALREADY_DECIDED);
        assertThat(story.refusal(claimed("b", 1, "add", "x"))).contains(ProblemType.BAD_INPUT);
        assertThat(story.refusal(restored("b", 1, "add", "x"))).contains(ProblemType.BAD_INPUT);
        assertThat(story.refusal(claimed("c", 1, "charge", "x"))).contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void claim_afterItsCallWasCancelled_isRefused() {
        ConversationScript story = replied(use("a", "charge")).with(dispatched("a", 1), new PersonFact.Stopped(NONE));

        assertThat(story.refusal(claimed("a", 1, "charge", "x"))).contains(ProblemType.ALREADY_DECIDED);
        assertThat(story.with(new ThreadFact.CancelRequested()).refusal(claimed("a", 1, "charge", "x")))
                .contains(ProblemType.CLOSED);
    }

    @Test
    void call_lostBeforeItsClaim_isDispatchedAgain_andTheLateClaimIsRefused() {
        ConversationScript story = replied(use("a", "charge")).with(dispatched("a", 1), lost("a", 1));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 2));
        assertThat(story.refusal(claimed("a", 1, "charge", "x"))).contains(ProblemType.ALREADY_DECIDED);
        assertThat(story.with(dispatched("a", 2)).refusal(claimed("a", 1, "charge", "x")))
                .contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void call_lostAfterItsClaim_isReportedWithTheDocumentedText() {
        ConversationScript story =
                replied(use("a", "charge")).with(dispatched("a", 1), claimed("a", 1, "charge", "x"), lost("a", 1));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.LOST);
        assertThat(story.call("a").toolResult())
                .contains(error("a", durability("charge", "a", ConversationScript.START.plusSeconds(7))));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.state().counters().versions()).isEqualTo(1);
    }

    @Test
    void claim_returnedByItsOwnExecution_meansNotRun() {
        ConversationScript story = replied(use("a", "charge"))
                .with(dispatched("a", 1), claimed("a", 1, "charge", "x"), notStarted("a", 1, "x"));

        assertThat(story.call("a").claim()).isEmpty();
        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 2));
    }

    @Test
    void notStarted_ofAnotherExecution_leavesTheOutcomeUnknown() {
        ConversationScript story = replied(use("a", "charge"))
                .with(dispatched("a", 1), claimed("a", 1, "charge", "x"), notStarted("a", 1, "y"));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.UNKNOWN);
    }

    @Test
    void notStarted_manyTimes_backsOffAndEndsInAnError() {
        ConversationScript story = replied(use("a", "charge"));
        for (int i = 1; i <= ToolRules.MAX_DISPATCHES; i++) {
            story.with(dispatched("a", i), notStarted("a", i, "x" + i));
        }

        assertThat(story.call("a").toolResult())
                .contains(error("a", "Tool error: could not be started: the worker is stopping"));
    }

    @Test
    void notStarted_twice_waitsBeforeTheNextDispatch() {
        ConversationScript story = replied(use("a", "charge"))
                .with(dispatched("a", 1), notStarted("a", 1, "x"), dispatched("a", 2), notStarted("a", 2, "y"));

        assertThat(story.decides()).containsExactly(new Step.WakeAt(ConversationScript.START.plusSeconds(10)));
        assertThat(story.with(new ThreadFact.TimePassed()).decides())
                .containsExactly(new Step.RunTool(story.call("a"), 3));
    }

    @Test
    void cancelledCall_afterItsClaim_saysSo() {
        ConversationScript story = replied(use("a", "charge"), use("b", "pay"))
                .with(
                        dispatched("a", 1),
                        dispatched("b", 1),
                        claimed("a", 1, "charge", "x"),
                        new PersonFact.Stopped(NONE));

        assertThat(story.call("a").result())
                .contains("Cancelled by user. The call had been claimed for execution at "
                        + ConversationScript.START.plusSeconds(8) + "; whether it took effect is not known.");
        assertThat(story.call("b").result()).contains("Cancelled by user.");
    }

    @Test
    void cancelledCall_withLateResult_usesItsKeyUp() {
        ConversationScript story = replied(use("a", "charge"))
                .with(dispatched("a", 1), claimed("a", 1, "charge", "x"), new PersonFact.Stopped(NONE), said("Again"))
                .with(new ModelFact.ModelCalled(2), reply(2, use("b", "charge")));
        assertThat(story.call("b").repeat()).isZero();

        assertThat(story.with(finished("a", 1, "paid")).call("b").repeat()).isEqualTo(1);
    }

    @Test
    void effects_runFiveAtATime() {
        Part[] uses = new Part[8];
        Arrays.setAll(uses, i -> use("c" + i, "charge", i));
        ConversationScript story = replied(uses);
        assertThat(story.decides()).hasSize(5);

        for (int i = 0; i < 5; i++) {
            story.with(dispatched("c" + i, 1));
        }
        assertThat(story.decides()).isEmpty();
    }

    // ---- identical calls

    @Test
    void identicalCalls_inOneReply_runOneAfterTheOtherWithTheirOwnKeys() {
        ConversationScript story = replied(use("a", "charge"), use("b", "charge"));
        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
        assertThat(story.call("b").status()).isEqualTo(Call.Status.HELD);

        story.with(dispatched("a", 1), claimed("a", 1, "charge", "x"), finished("a", 1, "paid"));
        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 1));
        assertThat(story.call("b").repeat()).isEqualTo(1);
    }

    @Test
    void identicalCall_afterAnUnknownOutcome_keepsTheKey() {
        ConversationScript story = replied(use("a", "charge"), use("b", "charge"))
                .with(dispatched("a", 1), claimed("a", 1, "charge", "x"), lost("a", 1));

        assertThat(story.call("b").repeat()).isZero();
    }

    @Test
    void identicalCalls_deduped_returnTheFirstSuccess() {
        ConversationScript story = replied(use("a", "book"), use("b", "book"), use("c", "book"))
                .with(dispatched("a", 1), claimed("a", 1, "book", "x"), finished("a", 1, "seat 7"));

        assertThat(story.with(new ModelFact.ModelCalled(2)).messages())
                .last()
                .isEqualTo(results(
                        result("a", "seat 7"),
                        result("b", "[idempotent replay of a]: seat 7"),
                        result("c", "[idempotent replay of a]: seat 7")));
    }

    @Test
    void identicalCalls_dedupedAndTheFirstFails_runTheSecond() {
        ConversationScript story = replied(use("a", "book"), use("b", "book"))
                .with(dispatched("a", 1), claimed("a", 1, "book", "x"))
                .with(new ToolFact.ToolFinished("a", 1, "Tool error: full", true));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 1));
    }

    @Test
    void identicalCalls_dedupedAndTheFirstUnknown_areAllLost() {
        ConversationScript story = replied(use("a", "book"), use("b", "book"))
                .with(dispatched("a", 1), claimed("a", 1, "book", "x"), lost("a", 1));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.LOST);
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void identicalCalls_whileTheFirstWaitsForAPerson_areAnInterruption() {
        ConversationScript story = replied(use("a", "fire"), use("b", "fire"));

        assertThat(story.state().isInterrupted()).isTrue();
        assertThat(story.state().counters().versions()).isEqualTo(1);
        story.with(ToolConversationScript.denied("a"));
        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
    }

    /** The first call is held until the second one ends, so the second one must not be held by the first. */
    @Test
    void identicalCalls_afterAnEdit_doNotBlockEachOther() {
        Json edited = Json.of(Map.of("n", 1));
        ConversationScript story =
                replied(use("a", "fire"), use("b", "fire", 1)).with(approved("b"), dispatched("b", 1));
        story.with(ToolConversationScript.decided(
                true, Optional.of("a"), Optional.of(edited), Optional.empty(), Optional.empty()));
        assertThat(story.call("a").status()).isEqualTo(Call.Status.HELD);

        story.with(notStarted("b", 1, "x"));
        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 2));
    }

    // ---- verify, rerun, settle

    @Test
    void verify_waitsForTheFence() {
        ConversationScript story =
                replied(use("a", "pay")).with(dispatched("a", 1), claimed("a", 1, "pay", "x"), lost("a", 1));
        Instant fence = ConversationScript.START.plusSeconds(7).plus(FENCE);
        assertThat(story.decides()).containsExactly(new Step.WakeAt(fence));

        assertThat(story.at(fence, new ThreadFact.TimePassed()).decides())
                .containsExactly(new Step.VerifyTool(story.call("a")));
    }

    @Test
    void verify_landed_completesTheCall() {
        ConversationScript story = verifying("pay").with(verified("a", 1, true));

        assertThat(story.call("a").toolResult())
                .contains(result("a", "Done: a check found that the call had taken effect."));
    }

    @Test
    void verify_notLandedAndFenced_runsItAgainWithTheSameKey() {
        ConversationScript story = verifying("pay").with(verified("a", 1, false));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 2));
        assertThat(story.call("a").repeat()).isZero();
        assertThat(story.call("a").claim()).isEmpty();
    }

    @Test
    void verify_notLandedAndNotFenced_isReported() {
        assertThat(verifying("wire").with(verified("a", 1, false)).call("a").status())
                .isEqualTo(Call.Status.LOST);
    }

    @Test
    void verify_withoutAnAnswer_isReported() {
        ConversationScript story =
                verifying("pay").with(new ToolFact.ToolVerified("a", 1, Optional.empty(), Optional.empty()));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.LOST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mail", "sign"})
    void unknown_thatAsks_isSettledAsDone(String tool) {
        ConversationScript story = unsettled(tool);
        assertThat(story.state().isInterrupted()).isTrue();

        story.with(settled("a", CallSettlement.Outcome.DONE));
        assertThat(story.call("a").toolResult()).contains(result("a", "Done, as settled by ann."));
        assertThat(story.refusal(settled("a", CallSettlement.Outcome.DONE))).contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void settle_rerun_waitsForTheFenceAndKeepsTheClaimUntilThen() {
        ConversationScript story = unsettled("mail").with(settled("a", CallSettlement.Outcome.RERUN));
        Instant fence = ConversationScript.START.plusSeconds(7).plus(FENCE);

        assertThat(story.decides()).containsExactly(new Step.WakeAt(fence));
        assertThat(story.call("a").claim()).isPresent();
        assertThat(story.at(fence, new ThreadFact.TimePassed()).decides())
                .containsExactly(new Step.RunTool(story.call("a"), 2));
        assertThat(story.call("a").claim()).isEmpty();
    }

    @Test
    void settle_rerunOfACallThatCannotBeFenced_isRefused() {
        assertThat(unsettled("sign").refusal(settled("a", CallSettlement.Outcome.RERUN)))
                .contains(ProblemType.BAD_INPUT);
    }

    @Test
    void settle_giveUp_isReported() {
        ConversationScript story = unsettled("sign").with(settled("a", CallSettlement.Outcome.GIVE_UP));

        assertThat(story.call("a").toolResult())
                .contains(error("a", durability("sign", "a", ConversationScript.START.plusSeconds(7))));
    }

    @Test
    void settle_ofACallThatIsNotUnsettled_isRefusedWithItsType() {
        ConversationScript story = replied(use("a", "charge"), use("b", "add"));

        assertThat(story.refusal(settled("z", CallSettlement.Outcome.DONE))).contains(ProblemType.NOT_FOUND);
        assertThat(story.refusal(settled("a", CallSettlement.Outcome.DONE))).contains(ProblemType.NOT_FOUND);
        assertThat(story.refusal(settled("b", CallSettlement.Outcome.RERUN))).contains(ProblemType.NOT_FOUND);
    }

    // ---- resets

    @Test
    void restoredClaim_ofTheOpenDispatch_isKeptUntilTheNewExecutionIsRefused() {
        ConversationScript story =
                replied(use("a", "charge")).with(dispatched("a", 1), restored("a", 1, "charge", "old"));
        assertThat(story.call("a").status()).isEqualTo(Call.Status.CLAIMED);

        assertThat(story.with(notStarted("a", 1, "new")).call("a").status()).isEqualTo(Call.Status.UNKNOWN);
    }

    /**
     * A workflow task applies updates last, so the report of the new execution may arrive before the claim of the old
     * one.
     */
    @Test
    void restoredClaim_afterTheNewExecutionWasRefused_isRemembered() {
        ConversationScript story = replied(use("a", "charge")).with(dispatched("a", 1), notStarted("a", 1, "new"));
        assertThat(story.refusal(restored("a", 1, "charge", "old"))).isEmpty();

        assertThat(story.with(restored("a", 1, "charge", "old")).call("a").status())
                .isEqualTo(Call.Status.LOST);
        assertThat(replied(use("a", "charge"))
                        .with(dispatched("a", 1), notStarted("a", 1, "new"), dispatched("a", 2))
                        .with(restored("a", 1, "charge", "old"))
                        .call("a")
                        .status())
                .isEqualTo(Call.Status.LOST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "fresh"})
    void restoredClaim_beforeItsCall_appliesToTheFirstIdenticalCall(String id) {
        ConversationScript story = ToolConversationScript.begun(Optional.empty())
                .with(said("Hello"), restored("a", 1, "charge", "old"), new ModelFact.ModelCalled(1))
                .with(reply(1, use(id, "charge"), use("b", "charge"), use("c", "pay")));

        assertThat(story.call(id).status()).isEqualTo(Call.Status.LOST);
        assertThat(story.call("b").status()).isEqualTo(Call.Status.ISSUED);
        assertThat(story.call("c").status()).isEqualTo(Call.Status.ISSUED);
    }

    /** If the first call took the claim, the second could start again while its old execution is still running. */
    @Test
    void restoredClaim_ofTheSecondOfIdenticalCalls_isNotTakenByTheFirst() {
        ConversationScript story = ToolConversationScript.begun(Optional.empty())
                .with(said("Hello"), restored("a", 1, "charge", "old"), new ModelFact.ModelCalled(1))
                .with(reply(1, use("fresh", "charge"), use("a", "charge")));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.LOST);
        assertThat(story.call("fresh").status()).isEqualTo(Call.Status.ISSUED);
    }

    @Test
    void restoredClaims_ofOneCall_countOnce() {
        ConversationScript story = ToolConversationScript.begun(Optional.empty())
                .with(said("Hello"), restored("a", 1, "charge", "old"), restored("a", 2, "charge", "older"))
                .with(new ModelFact.ModelCalled(1), reply(1, use("x", "charge"), use("y", "charge")));

        assertThat(story.call("x").claim().map(Call.Claim::execution)).contains("older");
        assertThat(story.call("y").status()).isEqualTo(Call.Status.ISSUED);
    }

    /** A check with another key would find no effect, and the call would run a second time. */
    @Test
    void restoredClaim_ofALaterIdenticalCall_keepsItsKey() {
        ConversationScript story = replied(use("a", "pay"), use("b", "pay"))
                .with(new ToolFact.ToolClaimed("b", 1, "pay", DIGEST, 1, "old", true));
        assertThat(story.call("b").repeat()).isEqualTo(1);

        story = ToolConversationScript.begun(Optional.empty())
                .with(said("Hello"), new ToolFact.ToolClaimed("b", 1, "pay", DIGEST, 1, "old", true))
                .with(new ModelFact.ModelCalled(1), reply(1, use("c", "pay")));
        assertThat(story.call("c").repeat()).isEqualTo(1);
    }

    @Test
    void restoredClaim_ofAReusedCallId_isRemembered() {
        ConversationScript story = replied(use("a", "pay")).with(restored("a", 1, "charge", "old"), dispatched("a", 1));
        story.with(claimed("a", 1, "pay", "x"), finished("a", 1, "paid"), new ModelFact.ModelCalled(2));

        assertThat(story.with(reply(2, use("b", "charge"))).call("b").status()).isEqualTo(Call.Status.LOST);
    }

    @Test
    void restoredClaim_ofADeniedCall_makesItLost() {
        ConversationScript story = replied(use("a", "fire"), ask("q", "Day?"))
                .with(ToolConversationScript.denied("a"), restored("a", 1, "fire", "old"));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.LOST);
    }

    @Test
    void restoredClaim_ofACancelledCall_isAddedToItsResult() {
        ConversationScript story = replied(use("a", "charge"))
                .with(dispatched("a", 1), new PersonFact.Stopped(NONE), restored("a", 1, "charge", "old"));

        assertThat(story.call("a").result())
                .hasValueSatisfying(
                        text -> assertThat(text).startsWith("Cancelled by user. The call had been claimed"));
        assertThat(story.with(restored("a", 2, "charge", "older")).call("a").result())
                .hasValueSatisfying(text -> assertThat(text).containsOnlyOnce("had been claimed"));
    }

    @Test
    void restoredClaim_ofAForgottenCall_isRemembered() {
        ConversationScript story = replied(use("a", "charge"))
                .with(dispatched("a", 1), new PersonFact.Cleared(false, NONE), restored("a", 1, "charge", "old"))
                .with(said("Anew"), new ModelFact.ModelCalled(2), reply(2, use("b", "charge")));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.LOST);
    }

    @Test
    void clear_ofEverything_keepsRememberedClaimsAndUsedKeys() {
        ConversationScript story = ToolConversationScript.begun(Optional.empty())
                .with(restored("a", 1, "charge", "old"), new PersonFact.Cleared(true, NONE))
                .with(said("Anew"), new ModelFact.ModelCalled(1), reply(1, use("b", "charge")));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.LOST);
    }

    /** The later execution may take effect between the verdict and the rerun. */
    @Test
    void check_startedBeforeALaterClaimWasRestored_isNotAccepted() {
        ConversationScript story = verifying("pay").with(restored("a", 2, "pay", "old"), verified("a", 1, false));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.UNKNOWN);
    }

    @Test
    void lostCall_whileAnIdenticalCallMayRun_waitsLonger() {
        ConversationScript story =
                replied(use("a", "pay")).with(dispatched("a", 1), claimed("a", 1, "pay", "x"), lost("a", 1));
        story.with(restored("other", 1, "pay", "old"));

        assertThat(story.decides())
                .containsExactly(
                        new Step.WakeAt(ConversationScript.START.plusSeconds(9).plus(FENCE)));
    }

    @Test
    void restoredClaim_whoseCallDidNotStart_waitsForTheIdenticalCallBeforeIt() {
        ConversationScript story = replied(use("a", "pay"), use("b", "pay"))
                .with(restored("b", 1, "pay", "old"), endedLate("b", "old", notStarted("b", 1, "old")));
        assertThat(story.call("b").status()).isEqualTo(Call.Status.HELD);

        story.with(dispatched("a", 1), claimed("a", 1, "pay", "x"), finished("a", 1, "paid"));
        assertThat(story.call("b").status()).isEqualTo(Call.Status.ISSUED);
        assertThat(story.call("b").repeat()).isEqualTo(1);
    }

    /** A frozen execution may continue later. The other system can detect the duplicate only if it has the same key. */
    @Test
    void rerun_ofACallThatRanBeforeAReset_keepsItsKey() {
        ConversationScript story = replied(use("a", "drop"), use("b", "drop"))
                .with(restored("b", 1, "drop", "old"))
                .at(ConversationScript.START.plus(Duration.ofHours(1)), settled("b", CallSettlement.Outcome.RERUN));
        assertThat(story.call("b").claim()).isEmpty();

        story.with(approved("a"), approved("b"), dispatched("a", 1), claimed("a", 1, "drop", "x"));
        assertThat(story.with(finished("a", 1, "dropped")).call("b").status()).isEqualTo(Call.Status.ISSUED);
        assertThat(story.call("b").repeat()).isZero();
    }

    @Test
    void rerun_withoutItsApproval_needsApprovalAgain() {
        ConversationScript story = replied(use("a", "drop")).with(restored("a", 1, "drop", "old"));
        assertThat(story.call("a").status()).isEqualTo(Call.Status.UNSETTLED);

        story.with(settled("a", CallSettlement.Outcome.RERUN));
        assertThat(story.call("a").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.with(approved("a")).decides())
                .containsExactly(
                        new Step.WakeAt(ConversationScript.START.plusSeconds(6).plus(FENCE)));
    }

    /** A reset has undone the approval but restored the claim. */
    @Test
    void claimedCall_notRunAndWithoutItsApproval_needsApprovalAgain() {
        ConversationScript story = replied(use("a", "drop")).with(restored("a", 1, "drop", "old"));

        story.with(endedLate("a", "old", notStarted("a", 1, "old")));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.decides()).isEmpty();
        assertThat(story.with(approved("a")).decides()).hasSize(1).first().isInstanceOf(Step.RunTool.class);
    }

    // ---- four calls in all orders

    static List<List<String>> orders() {
        List<List<String>> orders = new ArrayList<>();
        permute(List.of("ask", "approve", "fail", "succeed"), List.of(), orders);
        return orders;
    }

    private static void permute(List<String> left, List<String> done, List<List<String>> orders) {
        if (left.isEmpty()) {
            orders.add(done);
        }
        for (String next : left) {
            List<String> rest = new ArrayList<>(left);
            rest.remove(next);
            List<String> longer = new ArrayList<>(done);
            longer.add(next);
            permute(rest, longer, orders);
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void fourCalls_decidedInAnyOrder_giveFourResultsInCallOrder(List<String> order) {
        ConversationScript story = replied(ask("q", "Day?"), use("f", "fire"), use("c", "charge"), use("p", "pay"))
                .with(dispatched("c", 1), dispatched("p", 1))
                .with(claimed("c", 1, "charge", "x"), claimed("p", 1, "pay", "y"));
        for (String next : order) {
            switch (next) {
                case "ask" -> story.with(ConversationScript.answered("q", "Friday"));
                case "approve" ->
                    story.with(approved("f"), dispatched("f", 1), claimed("f", 1, "fire", "z"))
                            .with(finished("f", 1, "fired"));
                case "fail" -> story.with(new ToolFact.ToolFinished("c", 1, "Tool error: declined", true));
                default -> story.with(finished("p", 1, "paid"));
            }
        }

        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.with(new ModelFact.ModelCalled(2)).messages())
                .last()
                .isEqualTo(results(
                        result("q", "Friday"),
                        result("f", "fired"),
                        error("c", "Tool error: declined"),
                        result("p", "paid")));
    }

    // ---- cost

    /** A workflow task that computes for seconds fails, because Temporal takes it for a deadlock. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Timeout(30)
    void calls_fiveHundredWithSideEffects_endQuickly(boolean same) {
        Part[] uses = new Part[Conversation.MAX_CALLS];
        Arrays.setAll(uses, i -> use("c" + i, "book", same ? 0 : i));
        ConversationScript story = replied(uses);
        while (!story.state().openCalls().isEmpty()) {
            for (Step step : story.decides()) {
                Call call = ((Step.RunTool) step).call();
                String id = call.id();
                story.with(
                        dispatched(id, 1),
                        new ToolFact.ToolClaimed(id, 1, "book", call.argsDigest(), call.repeat(), "x" + id, false));
                story.with(finished(id, 1, "done"));
            }
        }

        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    private static ConversationScript verifying(String tool) {
        return replied(use("a", tool))
                .with(dispatched("a", 1), claimed("a", 1, tool, "x"), lost("a", 1))
                .at(
                        ConversationScript.START.plusSeconds(7).plus(FENCE),
                        new ThreadFact.TimePassed(),
                        new ToolFact.VerifyDispatched("a", 1));
    }

    private static ConversationScript unsettled(String tool) {
        return replied(use("a", tool)).with(dispatched("a", 1), claimed("a", 1, tool, "x"), lost("a", 1));
    }
}
