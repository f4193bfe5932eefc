package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.error;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.DIGEST;
import static dev.waymark.conversation.rule.ToolConversationScript.approved;
import static dev.waymark.conversation.rule.ToolConversationScript.begun;
import static dev.waymark.conversation.rule.ToolConversationScript.decided;
import static dev.waymark.conversation.rule.ToolConversationScript.denied;
import static dev.waymark.conversation.rule.ToolConversationScript.replied;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.work.ModelInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ApprovalTest {
    private static final Optional<Json> AS_IT_IS = Optional.empty();
    private static final Json OTHER = Json.of(Map.of("n", 1));
    private static final Instant DEADLINE =
            ConversationScript.START.plusSeconds(5).plusSeconds(30);

    @Test
    void call_thatNeedsApproval_waitsForAPerson() {
        ConversationScript story = replied(use("a", "fire"));

        assertThat(story.state().isInterrupted()).isTrue();
        assertThat(story.decides()).isEmpty();
    }

    @Test
    void approval_ofACall_runsItUnchanged() {
        ConversationScript story = replied(use("a", "fire")).with(approved("a"));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
        assertThat(story.call("a").args()).isEqualTo(Json.EMPTY_OBJECT);
        assertThat(story.call("a").approval())
                .contains(new CallApproval(
                        true, false, Optional.of("ann"), NONE, ConversationScript.START.plusSeconds(6)));
    }

    @Test
    void approval_withOtherArguments_runsWithThem() {
        ConversationScript story =
                replied(use("a", "fire")).with(decided(true, Optional.of("a"), Optional.of(OTHER), NONE, NONE));

        assertThat(story.call("a").args()).isEqualTo(OTHER);
        assertThat(story.call("a").approval().orElseThrow().edited()).isTrue();
        assertThat(story.call("a").argsDigest()).isEqualTo(Sha256.hex(OTHER.canonical()));
        assertThat(story.with(ToolConversationScript.dispatched("a", 1))
                        .refusal(ToolConversationScript.claimed("a", 1, "fire", "x")))
                .contains(ProblemType.ALREADY_DECIDED);
    }

    /** The model must not believe that the call ran with the arguments that it chose. */
    @Test
    void editedArguments_areToldToTheModelBeforeTheResult_andBothAreKept() {
        ConversationScript story = replied(use("a", "fire"))
                .with(decided(true, Optional.of("a"), Optional.of(OTHER), NONE, NONE))
                .with(
                        ToolConversationScript.dispatched("a", 1),
                        new ToolFact.ToolClaimed("a", 1, "fire", Sha256.hex(OTHER.canonical()), 0, "x", false),
                        ToolConversationScript.finished("a", 1, "done"),
                        new ModelFact.ModelCalled(2));

        Part.ToolResult result = story.messages().get(2).toolResults().get(0);
        assertThat(result)
                .isEqualTo(new Part.ToolResult(
                        "a", "done", false, Optional.of("A person changed the arguments to {\"n\": 1}.")));
        assertThat(result.told()).isEqualTo("A person changed the arguments to {\"n\": 1}.\ndone");
        assertThat(story.call("a").requested()).contains(Json.EMPTY_OBJECT);
    }

    @Test
    void argumentsChangedBack_areNotReported() {
        ConversationScript story =
                replied(use("a", "fire")).with(decided(true, Optional.of("a"), Optional.of(OTHER), NONE, NONE));

        Call back = story.call("a")
                .decided(
                        CallApproval.recorded(true, story.call("a").since()),
                        Json.EMPTY_OBJECT,
                        story.call("a").since());

        assertThat(back.requested()).isEmpty();
    }

    @Test
    void approval_ofTheOnlyCall_needsNoCallId() {
        ConversationScript story = replied(use("a", "fire")).with(decided(true, NONE, AS_IT_IS, NONE, NONE));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.ISSUED);
    }

    @Test
    void decision_onOneOfSeveral_mustNameIt() {
        ConversationScript story = replied(use("a", "fire"), use("b", "drop"));

        assertThat(story.refusal(decided(true, NONE, AS_IT_IS, NONE, NONE))).contains(ProblemType.CALL_REQUIRED);
        assertThat(story.refusal(decided(false, NONE, AS_IT_IS, NONE, NONE))).contains(ProblemType.CALL_REQUIRED);
        assertThat(story.with(approved("b")).call("b").status()).isEqualTo(Call.Status.ISSUED);
    }

    @Test
    void decision_aboutShownArguments_appliesOnlyToThem() {
        ConversationScript story = replied(use("a", "fire"));

        assertThat(Rules.refusal(
                        story.state(), decided(true, Optional.of("a"), AS_IT_IS, Optional.of("0".repeat(64)), NONE)))
                .hasValueSatisfying(problem -> {
                    assertThat(problem.type()).isEqualTo(ProblemType.ARGS_CHANGED);
                    assertThat(problem.message()).doesNotContain("another tool");
                });
        assertThat(story.refusal(decided(false, Optional.of("a"), AS_IT_IS, Optional.of("0".repeat(64)), NONE)))
                .contains(ProblemType.ARGS_CHANGED);
        assertThat(story.refusal(decided(true, Optional.of("a"), AS_IT_IS, Optional.of(DIGEST), NONE)))
                .isEmpty();
    }

    /** The agent determines whether the call runs and whose signature is accepted. */
    @Test
    void decision_beforeTheAgentIsKnown_isAcceptedOnlyAsAnUnsignedDenial() {
        Conversation begun = Rules.resume(
                replied(use("a", "fire")).state(),
                new Resumption("r", Optional.of("other"), NONE, Optional.empty(), false, NONE),
                ConversationScript.START);

        for (PersonFact.ApprovalDecided early : List.of(
                approved("a"), approved("a").withSignature("s"), denied("a").withSignature("s"))) {
            assertThat(Rules.refusal(begun, early).map(Problem::type))
                    .as(early.toString())
                    .contains(ProblemType.BAD_INPUT);
        }
        assertThat(Rules.refusal(begun, denied("a"))).isEmpty();
    }

    @Test
    void decision_secondTime_isRefused() {
        ConversationScript approvedOnce = replied(use("a", "fire")).with(approved("a"));
        assertThat(approvedOnce.refusal(approved("a"))).contains(ProblemType.ALREADY_DECIDED);
        assertThat(approvedOnce.refusal(denied("a"))).contains(ProblemType.ALREADY_DECIDED);

        ConversationScript deniedOnce = replied(use("a", "fire")).with(denied("a"));
        assertThat(deniedOnce.refusal(approved("a"))).contains(ProblemType.ALREADY_DECIDED);
        assertThat(deniedOnce.with(new ModelFact.ModelCalled(2)).refusal(denied("a")))
                .contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void decision_onACallThatDoesNotWait_isRefused() {
        ConversationScript story = replied(use("a", "charge"), use("b", "fire"));

        assertThat(story.refusal(approved("z"))).contains(ProblemType.NOT_FOUND);
        assertThat(story.refusal(approved("a"))).contains(ProblemType.NOT_FOUND);
        assertThat(story.with(new PersonFact.Stopped(NONE)).refusal(approved("b")))
                .contains(ProblemType.NOT_FOUND);
    }

    @Test
    void decision_withInvalidArguments_isRefused() {
        ConversationScript story = replied(use("a", "fire"));
        Json large = Json.of(Map.of("x", "x".repeat(CallRules.MAX_ARGS_LENGTH)));

        assertThat(story.refusal(decided(false, Optional.of("a"), Optional.of(OTHER), NONE, NONE)))
                .contains(ProblemType.BAD_INPUT);
        assertThat(story.refusal(decided(true, Optional.of("a"), Optional.of(Json.of(List.of())), NONE, NONE)))
                .contains(ProblemType.BAD_INPUT);
        assertThat(story.refusal(decided(true, Optional.of("a"), Optional.of(large), NONE, NONE)))
                .contains(ProblemType.TOO_LARGE);
    }

    @Test
    void decision_redelivered_isADuplicate() {
        PersonFact.ApprovalDecided once =
                new PersonFact.ApprovalDecided(true, Optional.of("m-1"), Optional.of("a"), AS_IT_IS, NONE, NONE, NONE);

        assertThat(replied(use("a", "fire")).with(once).refusal(once)).contains(ProblemType.DUPLICATE);
    }

    @Test
    void denial_hasTheDocumentedText() {
        ConversationScript story = replied(use("a", "fire")).with(denied("a"));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.DENIED);
        assertThat(story.call("a").toolResult())
                .contains(error("a", "Tool execution denied by user. The fire tool was not executed."));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.state().counters().versions()).isEqualTo(2);
    }

    @Test
    void denial_withAReason_containsIt() {
        ConversationScript story = replied(use("a", "fire"))
                .with(decided(false, Optional.of("a"), AS_IT_IS, NONE, Optional.of("too dear")));

        assertThat(story.call("a").result())
                .contains("Tool execution denied by user. The fire tool was not executed. Reason: too dear");
    }

    @Test
    void denial_ifNobodyApproves_comesAtOnceForAllCalls() {
        ConversationScript story = begun(Optional.of(new AgentPolicy.Approvals(true, Optional.empty())))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, use("a", "fire"), use("b", "fire")));
        String text = "Tool execution denied. No approval callback provided. The fire tool was not executed.";

        assertThat(story.call("a").toolResult()).contains(error("a", text));
        assertThat(story.call("b").toolResult()).contains(error("b", text));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void approval_notGivenInTime_isADenial() {
        ConversationScript story = hurried();
        assertThat(story.decides()).containsExactly(new Step.WakeAt(DEADLINE));

        story.at(DEADLINE, new ThreadFact.TimePassed());
        assertThat(story.call("a").toolResult())
                .contains(error("a", "Tool execution denied. Nobody decided in time. The fire tool was not executed."));
        assertThat(story.refusal(approved("a"))).contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void time_passedTooEarly_changesNothing() {
        ConversationScript story = hurried();
        Conversation before = story.state();

        assertThat(story.at(DEADLINE.minusMillis(1), new ThreadFact.TimePassed())
                        .state())
                .isEqualTo(before);
    }

    @Test
    void rerun_afterADenialByTimeout_needsApprovalAgain() {
        ConversationScript story = begun(Optional.of(new AgentPolicy.Approvals(false, Optional.of(30_000L))))
                .with(
                        said("Hello"),
                        new ModelFact.ModelCalled(1),
                        reply(1, use("a", "drop"), ConversationScript.ask("q", "Day?")))
                .at(DEADLINE, new ThreadFact.TimePassed(), ToolConversationScript.restored("a", 1, "drop", "old"))
                .with(ToolConversationScript.settled("a", CallSettlement.Outcome.RERUN));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.AWAITING);
    }

    /** A thread in which a harmless tool is called that needs approval. */
    private static ConversationScript repliedWithApproval(Part.ToolUse use) {
        AgentPolicy policy = ToolConversationScript.policy(Optional.empty());
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>(policy.policies());
        policies.put(use.name(), new AgentPolicy.ToolPolicy(false, true, false, false, false, 0, false, false));
        return ConversationScript.of(new AgentPolicy("helper", 9, policy.tools(), policies, Optional.empty()))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, use));
    }

    @Test
    void stateTool_thatNeedsApproval_runsOnceApproved() {
        ConversationScript story =
                repliedWithApproval(new Part.ToolUse("a", "write_file", Json.of(Map.of("path", "x", "content", "1"))));
        assertThat(story.state().workspace().files().size()).isZero();

        assertThat(story.with(approved("a")).state().workspace().files().size()).isEqualTo(1);
        assertThat(story.call("a").result()).contains("Wrote x.");
    }

    @Test
    void question_thatNeedsApproval_isAskedOnceApproved() {
        ConversationScript story = repliedWithApproval(ConversationScript.ask("q", "Which day?"));
        assertThat(story.call("q").status()).isEqualTo(Call.Status.AWAITING);

        assertThat(story.with(approved("q")).call("q").status()).isEqualTo(Call.Status.ASKING);
    }

    /** The digest of the transcript does not cover who decided, so a model call records that separately. */
    @Test
    void modelCall_recordsWhoDecidedBeforeIt() {
        Conversation byAnn = replied(use("a", "fire"))
                .with(denied("a"), new ModelFact.ModelCalled(2))
                .state();
        Conversation byEve = replied(use("a", "fire"))
                .with(new PersonFact.ApprovalDecided(
                        false, NONE, Optional.of("a"), AS_IT_IS, NONE, Optional.of("eve"), NONE))
                .with(new ModelFact.ModelCalled(2))
                .state();
        ModelInput recorded = ModelInput.of(byAnn);

        assertThat(recorded.hasDecisionsOf(byAnn)).isTrue();
        assertThat(recorded.isOf(byEve.transcript())).isTrue();
        assertThat(recorded.hasDecisionsOf(byEve)).isFalse();
    }

    /** Otherwise, altered decisions of a stored history would pass if their digest was removed. */
    @Test
    void missingDigestOfDecisions_matchesOnlyNoDecisions() {
        Conversation undecided = replied(use("a", "fire")).state();
        Conversation decided = replied(use("a", "fire")).with(denied("a")).state();
        ModelInput model = new ModelInput(1, 1, "", false);
        RunOutcome end = new RunOutcome("complete", 1, "", Optional.empty(), Optional.empty(), Optional.empty(), false);

        assertThat(model.hasDecisionsOf(undecided)).isTrue();
        assertThat(end.hasDecisionsOf(undecided)).isTrue();
        assertThat(model.hasDecisionsOf(decided)).isFalse();
        assertThat(end.hasDecisionsOf(decided)).isFalse();
    }

    private static ConversationScript hurried() {
        return begun(Optional.of(new AgentPolicy.Approvals(false, Optional.of(30_000L))))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, use("a", "fire")));
    }
}
