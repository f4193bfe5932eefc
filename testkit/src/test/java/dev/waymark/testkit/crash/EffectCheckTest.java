package dev.waymark.testkit.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.work.AgentPolicies;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.IdempotencyKey;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.RecordingTool;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class EffectCheckTest {
    private static final Instant START = Instant.parse("2026-05-01T09:00:00Z");
    private static final Json ARGS = Json.of(Map.of("item", "book"));
    private static final EffectLedger.Effect CHARGED =
            new EffectLedger.Effect(START, IdempotencyKey.of("trip", "charge", ARGS, 0), "tu_1");
    private static final Fact DISPATCHED = new ToolFact.ToolDispatched("tu_1", 1);
    private static final Fact CLAIMED =
            new ToolFact.ToolClaimed("tu_1", 1, "charge", Sha256.hex(ARGS.canonical()), 0, "run/1/a", false);
    private static final Fact FINISHED = new ToolFact.ToolFinished("tu_1", 1, "done", false);
    /** The execution that was lost did not report its outcome in time. */
    private static final Fact UNHEARD = new ThreadFact.TimePassed();

    private static final Fact LOST = new ToolFact.ToolLost("tu_1", 1, new Problem("Timeout", "gone"));

    private static RecordingTool charge() {
        return RecordingTool.of("charge", 0);
    }

    /** A thread whose model called the tool, with these facts about the call, and then gave its final reply. */
    private static Timeline thread(RecordingTool tool, Fact... facts) {
        List<Fact> more = new ArrayList<>(List.of(facts));
        more.add(new ModelFact.ModelCalled(2));
        more.add(new ModelFact.ModelReplied(2, Reply.of(new Part.Text("Done."))));
        return thread(tool, Reply.of(new Part.ToolUse("tu_1", "charge", ARGS)), more);
    }

    /** A thread whose model gave this first reply, with these facts after it. */
    private static Timeline thread(RecordingTool tool, Reply reply, List<Fact> facts) {
        AgentSpec agent = AgentSpec.of("a", "m:x", tool.spec());
        List<Fact> all = new ArrayList<>(List.of(
                new ThreadFact.AgentRequested(),
                new ThreadFact.AgentResolved(AgentPolicies.of(agent)),
                new PersonFact.UserSpoke(
                        Optional.empty(), Optional.empty(), Optional.of(Message.user("Charge")), false),
                new ModelFact.ModelCalled(1),
                new ModelFact.ModelReplied(1, reply)));
        all.addAll(facts);
        Conversation state =
                Rules.start(new ThreadFact.RunStarted(ThreadIdentity.RULES, "a", false, Optional.empty()), START);
        List<Moment> moments = new ArrayList<>();
        for (Fact fact : all) {
            Duration longer = fact instanceof ThreadFact.TimePassed ? Duration.ofMinutes(1) : Duration.ZERO;
            Instant at = START.plusSeconds(moments.size() + 1).plus(longer);
            state = Rules.apply(state, fact, at);
            moments.add(new Moment("run", moments.size(), at, Optional.of(fact), state));
        }
        return new Timeline("trip", "run", moments, state, Optional.of(agent), Optional.empty(), moments.size(), false);
    }

    private static EffectCheck effects(RecordingTool tool, List<Fact> facts, EffectLedger.Effect... ledger) {
        return EffectCheck.of(
                thread(tool, facts.toArray(Fact[]::new)), List.of(ledger), List.of(START.plusSeconds(60)));
    }

    private static RecordingTool declared(UnaryOperator<ToolSpec.Builder> change) {
        return charge().with(change);
    }

    @Test
    void completedCall_oneEffect_hasNoViolation() {
        assertThat(effects(charge(), List.of(DISPATCHED, CLAIMED, FINISHED), CHARGED))
                .isEqualTo(new EffectCheck(1, 0, 0, 0, 0, List.of()));
    }

    @Test
    void completedCall_twoEffects_isDuplicated() {
        assertThat(effects(charge(), List.of(DISPATCHED, CLAIMED, FINISHED), CHARGED, CHARGED))
                .isEqualTo(new EffectCheck(1, 1, 0, 0, 0, List.of("tu_1 took effect 2 times")));
    }

    @Test
    void completedCall_noEffect_isLost() {
        assertThat(effects(charge(), List.of(DISPATCHED, CLAIMED, FINISHED)))
                .isEqualTo(new EffectCheck(1, 0, 1, 0, 0, List.of("tu_1 is completed and never took effect")));
    }

    @Test
    void safeTool_twoEffects_hasNoViolation() {
        assertThat(effects(declared(ToolSpec.Builder::safeToRetry), List.of(DISPATCHED, FINISHED), CHARGED, CHARGED))
                .isEqualTo(new EffectCheck(1, 0, 0, 0, 0, List.of()));
    }

    @Test
    void safeTool_thatRecordsNothing_hasNoViolation() {
        assertThat(effects(declared(ToolSpec.Builder::safeToRetry), List.of(DISPATCHED, FINISHED)))
                .isEqualTo(new EffectCheck(1, 0, 0, 0, 0, List.of()));
    }

    @Test
    void safeTool_thatRecordsOneCallOfTwo_hasLostOne() {
        RecordingTool tool = declared(ToolSpec.Builder::safeToRetry);
        Json other = Json.of(Map.of("item", "pen"));
        Reply twice = Reply.of(new Part.ToolUse("tu_1", "charge", ARGS), new Part.ToolUse("tu_2", "charge", other));
        Timeline timeline = thread(
                tool,
                twice,
                List.of(
                        DISPATCHED,
                        new ToolFact.ToolDispatched("tu_2", 1),
                        FINISHED,
                        new ToolFact.ToolFinished("tu_2", 1, "done", false),
                        new ModelFact.ModelCalled(2),
                        new ModelFact.ModelReplied(2, Reply.of(new Part.Text("Done.")))));

        assertThat(EffectCheck.of(timeline, List.of(CHARGED), List.of()).violations())
                .containsExactly("tu_2 is completed and never took effect");
    }

    @Test
    void unknownCall_claimedBeforeItsWorkerWasKilled_hasNoViolation() {
        assertThat(effects(charge(), List.of(DISPATCHED, CLAIMED, LOST, UNHEARD), CHARGED))
                .isEqualTo(new EffectCheck(1, 0, 0, 1, 0, List.of()));
    }

    @Test
    void unknownCall_withoutAKilledWorker_isAViolation() {
        Timeline timeline = thread(charge(), DISPATCHED, CLAIMED, LOST, UNHEARD);

        assertThat(EffectCheck.of(timeline, List.of(), List.of(START)).violations())
                .containsExactly("tu_1 is unknown, but no worker was lost that could have claimed it");
    }

    @Test
    void dispatchLostBeforeItsClaim_dispatchedAgain_hasNoViolation() {
        Fact again = new ToolFact.ToolDispatched("tu_1", 2);
        Fact claimed = new ToolFact.ToolClaimed("tu_1", 2, "charge", Sha256.hex(ARGS.canonical()), 0, "run/1/b", false);
        Fact finished = new ToolFact.ToolFinished("tu_1", 2, "done", false);

        assertThat(effects(charge(), List.of(DISPATCHED, LOST, again, claimed, finished), CHARGED))
                .isEqualTo(new EffectCheck(1, 0, 0, 0, 1, List.of()));
    }

    @Test
    void heldCall_neverRun_isAViolation() {
        Reply twice = Reply.of(new Part.ToolUse("tu_1", "charge", ARGS), new Part.ToolUse("tu_2", "charge", ARGS));

        assertThat(EffectCheck.of(thread(charge(), twice, List.of()), List.of(), List.of())
                        .violations())
                .containsExactlyInAnyOrder(
                        "tu_1 has 0 results", "tu_1 is ISSUED", "tu_2 has 0 results", "tu_2 is HELD");
    }
}
