package dev.waymark.conversation;

import static dev.waymark.conversation.Story.NONE;
import static dev.waymark.conversation.Story.error;
import static dev.waymark.conversation.Story.reply;
import static dev.waymark.conversation.Story.said;
import static dev.waymark.conversation.Story.use;
import static dev.waymark.conversation.ToolStory.DIGEST;
import static dev.waymark.conversation.ToolStory.approved;
import static dev.waymark.conversation.ToolStory.begun;
import static dev.waymark.conversation.ToolStory.decided;
import static dev.waymark.conversation.ToolStory.denied;
import static dev.waymark.conversation.ToolStory.replied;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ApprovalTest {
    private static final Optional<Json> AS_IT_IS = Optional.empty();
    private static final Json OTHER = Json.of(Map.of("n", 1));
    private static final Instant DEADLINE = Story.START.plusSeconds(5).plusSeconds(30);

    @Test
    void call_thatNeedsApproval_waitsForAPerson() {
        Story story = replied(use("a", "fire"));

        assertThat(story.state().isInterrupted()).isTrue();
        assertThat(story.decides()).isEmpty();
    }

    @Test
    void approval_ofACall_runsItAsItWas() {
        Story story = replied(use("a", "fire")).with(approved("a"));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
        assertThat(story.call("a").args()).isEqualTo(Json.EMPTY_OBJECT);
        assertThat(story.call("a").approval())
                .contains(new Call.Approval(true, false, Optional.of("ann"), NONE, Story.START.plusSeconds(6)));
    }

    @Test
    void approval_withOtherArguments_runsThose() {
        Story story = replied(use("a", "fire")).with(decided(true, Optional.of("a"), Optional.of(OTHER), NONE, NONE));

        assertThat(story.call("a").args()).isEqualTo(OTHER);
        assertThat(story.call("a").approval().orElseThrow().edited()).isTrue();
        assertThat(story.call("a").argsDigest()).isEqualTo(Sha256.hex(OTHER.canonical()));
        assertThat(story.with(ToolStory.dispatched("a", 1)).refusal(ToolStory.claimed("a", 1, "fire", "x")))
                .contains(Problem.ALREADY_DECIDED);
    }

    @Test
    void approval_ofTheOnlyCall_needsNoName() {
        Story story = replied(use("a", "fire")).with(decided(true, NONE, AS_IT_IS, NONE, NONE));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.ISSUED);
    }

    @Test
    void decision_onOneOfSeveral_hasToNameIt() {
        Story story = replied(use("a", "fire"), use("b", "drop"));

        assertThat(story.refusal(decided(true, NONE, AS_IT_IS, NONE, NONE))).contains(Problem.CALL_REQUIRED);
        assertThat(story.refusal(decided(false, NONE, AS_IT_IS, NONE, NONE))).contains(Problem.CALL_REQUIRED);
        assertThat(story.with(approved("b")).call("b").status()).isEqualTo(Call.Status.ISSUED);
    }

    @Test
    void decision_aboutTheArgumentsThatWereShown_isTakenOnlyForThose() {
        Story story = replied(use("a", "fire"));

        assertThat(story.refusal(decided(true, Optional.of("a"), AS_IT_IS, Optional.of("0".repeat(64)), NONE)))
                .contains(Problem.ARGS_CHANGED);
        assertThat(story.refusal(decided(false, Optional.of("a"), AS_IT_IS, Optional.of("0".repeat(64)), NONE)))
                .contains(Problem.ARGS_CHANGED);
        assertThat(story.refusal(decided(true, Optional.of("a"), AS_IT_IS, Optional.of(DIGEST), NONE)))
                .isEmpty();
    }

    @Test
    void decision_secondTime_isRefused() {
        Story approvedOnce = replied(use("a", "fire")).with(approved("a"));
        assertThat(approvedOnce.refusal(approved("a"))).contains(Problem.ALREADY_DECIDED);
        assertThat(approvedOnce.refusal(denied("a"))).contains(Problem.ALREADY_DECIDED);

        Story deniedOnce = replied(use("a", "fire")).with(denied("a"));
        assertThat(deniedOnce.refusal(approved("a"))).contains(Problem.ALREADY_DECIDED);
        assertThat(deniedOnce.with(new Fact.ModelCalled(2)).refusal(denied("a")))
                .contains(Problem.ALREADY_DECIDED);
    }

    @Test
    void decision_onWhatWaitsForNone_isRefused() {
        Story story = replied(use("a", "charge"), use("b", "fire"));

        assertThat(story.refusal(approved("z"))).contains(Problem.NOT_FOUND);
        assertThat(story.refusal(approved("a"))).contains(Problem.NOT_FOUND);
        assertThat(story.with(new Fact.Stopped(NONE)).refusal(approved("b"))).contains(Problem.NOT_FOUND);
    }

    @Test
    void decision_withArgumentsThatMakeNoSense_isRefused() {
        Story story = replied(use("a", "fire"));
        Json large = Json.of(Map.of("x", "x".repeat(Conversation.MAX_ARGS_LENGTH)));

        assertThat(story.refusal(decided(false, Optional.of("a"), Optional.of(OTHER), NONE, NONE)))
                .contains(Problem.BAD_INPUT);
        assertThat(story.refusal(decided(true, Optional.of("a"), Optional.of(Json.of(List.of())), NONE, NONE)))
                .contains(Problem.BAD_INPUT);
        assertThat(story.refusal(decided(true, Optional.of("a"), Optional.of(large), NONE, NONE)))
                .contains(Problem.TOO_LARGE);
    }

    @Test
    void decision_redelivered_isADuplicate() {
        Fact.ApprovalDecided once =
                new Fact.ApprovalDecided(true, Optional.of("m-1"), Optional.of("a"), AS_IT_IS, NONE, NONE, NONE);

        assertThat(replied(use("a", "fire")).with(once).refusal(once)).contains(Problem.DUPLICATE);
    }

    @Test
    void denial_isToldWithTheDocumentedText() {
        Story story = replied(use("a", "fire")).with(denied("a"));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.DENIED);
        assertThat(story.call("a").toolResult())
                .contains(error("a", "Tool execution denied by user. The fire tool was not executed."));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.state().counters().versions()).isEqualTo(2);
    }

    @Test
    void denial_withAReason_isToldWithIt() {
        Story story = replied(use("a", "fire"))
                .with(decided(false, Optional.of("a"), AS_IT_IS, NONE, Optional.of("too dear")));

        assertThat(story.call("a").result())
                .contains("Tool execution denied by user. The fire tool was not executed. Reason: too dear");
    }

    @Test
    void denial_whereNobodyApproves_comesAtOnceForAllOfThem() {
        Story story = begun(Optional.of(new Terms.Approvals(true, Optional.empty())))
                .with(said("Hello"), new Fact.ModelCalled(1), reply(1, use("a", "fire"), use("b", "fire")));
        String text = "Tool execution denied. No approval callback provided. The fire tool was not executed.";

        assertThat(story.call("a").toolResult()).contains(error("a", text));
        assertThat(story.call("b").toolResult()).contains(error("b", text));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void approval_thatNobodyGivesInTime_isADenial() {
        Story story = hurried();
        assertThat(story.decides()).containsExactly(new Step.WakeAt(DEADLINE));

        story.at(DEADLINE, new Fact.TimePassed());
        assertThat(story.call("a").toolResult())
                .contains(error("a", "Tool execution denied. Nobody decided in time. The fire tool was not executed."));
        assertThat(story.refusal(approved("a"))).contains(Problem.ALREADY_DECIDED);
    }

    @Test
    void time_passedTooEarly_changesNothing() {
        Story story = hurried();
        Conversation before = story.state();

        assertThat(story.at(DEADLINE.minusMillis(1), new Fact.TimePassed()).state())
                .isEqualTo(before);
    }

    @Test
    void approval_ofARerunAfterADenialInTime_isAskedForAgain() {
        Story story = begun(Optional.of(new Terms.Approvals(false, Optional.of(30_000L))))
                .with(said("Hello"), new Fact.ModelCalled(1), reply(1, use("a", "drop"), Story.ask("q", "Day?")))
                .at(DEADLINE, new Fact.TimePassed(), ToolStory.restored("a", 1, "drop", "old"))
                .with(ToolStory.settled("a", Fact.Settlement.RERUN));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.AWAITING);
    }

    @Test
    void stateTool_thatNeedsApproval_runsOnceApproved() {
        Terms terms = ToolStory.terms(Optional.empty());
        Map<String, Terms.Care> care = new LinkedHashMap<>(terms.care());
        care.put("write_file", new Terms.Care(false, true, false, false, false, false, 0));
        Story story = Story.begun(new Fact.RunStarted(Conversation.RULES, "helper", false, Optional.empty()))
                .with(new Fact.AgentRequested())
                .with(new Fact.AgentResolved(new Terms("helper", 9, terms.tools(), care, Optional.empty())))
                .with(said("Hello"), new Fact.ModelCalled(1))
                .with(reply(1, new Part.ToolUse("a", "write_file", Json.of(Map.of("path", "x", "content", "1")))));
        assertThat(story.state().desk().files().size()).isZero();

        assertThat(story.with(approved("a")).state().desk().files().size()).isEqualTo(1);
        assertThat(story.call("a").result()).contains("Wrote x.");
    }

    private static Story hurried() {
        return begun(Optional.of(new Terms.Approvals(false, Optional.of(30_000L))))
                .with(said("Hello"), new Fact.ModelCalled(1), reply(1, use("a", "fire")));
    }
}
