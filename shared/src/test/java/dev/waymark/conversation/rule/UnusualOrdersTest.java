package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.approved;
import static dev.waymark.conversation.rule.ToolConversationScript.claimed;
import static dev.waymark.conversation.rule.ToolConversationScript.dispatched;
import static dev.waymark.conversation.rule.ToolConversationScript.finished;
import static dev.waymark.conversation.rule.ToolConversationScript.lost;
import static dev.waymark.conversation.rule.ToolConversationScript.policy;
import static dev.waymark.conversation.rule.ToolConversationScript.replied;
import static dev.waymark.conversation.rule.ToolConversationScript.settled;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
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
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Facts that arrive at unexpected times. A rule that threw on such a fact would block its thread forever. */
class UnusualOrdersTest {
    private static final Instant LATER = ConversationScript.START.plusSeconds(100);
    private static final Problem LOOKED_UP = new Problem(ProblemType.BAD_INPUT, "the agent is being looked up");

    /** The state of a thread that was resumed from this one and whose agent is not resolved yet. */
    private static Conversation resumed(ConversationScript story) {
        return Rules.resume(
                story.state(),
                new Resumption("r", Optional.of("helper"), Optional.empty(), Optional.empty(), false, Optional.empty()),
                LATER);
    }

    @Test
    void approval_beforeTheAgentIsKnown_isRefused() {
        Conversation state = resumed(replied(use("a", "fire")));

        assertThat(Rules.refusal(state, approved("a"))).contains(LOOKED_UP);
        assertThat(Rules.apply(state, approved("a"), LATER).calls()).isEqualTo(state.calls());
    }

    @Test
    void settlement_beforeTheAgentIsKnown_isRefused() {
        Conversation state =
                resumed(replied(use("a", "mail")).with(dispatched("a", 1), claimed("a", 1, "mail", "x"), lost("a", 1)));

        for (CallSettlement.Outcome settlement : CallSettlement.Outcome.values()) {
            assertThat(Rules.refusal(state, settled("a", settlement))).contains(LOOKED_UP);
        }
    }

    @Test
    void identicalCalls_resumedWithAnotherAgent_stillRunOneAfterTheOther() {
        Conversation state = Rules.apply(
                Rules.apply(
                        resumed(replied(use("a", "charge"), use("b", "charge"))),
                        new ThreadFact.AgentRequested(),
                        LATER),
                new ThreadFact.AgentResolved(policy(Optional.empty())),
                LATER);

        assertThat(state.calls().get("a").orElseThrow().status()).isEqualTo(Call.Status.ISSUED);
        assertThat(state.calls().get("b").orElseThrow().status()).isEqualTo(Call.Status.HELD);
    }

    @Test
    void lateResultOfADeletedCall_countsOnlyForIdenticalCalls() {
        Part.ToolUse old = use("a", "charge", 1);
        ConversationScript story = replied(old)
                .with(
                        dispatched("a", 1),
                        new ToolFact.ToolClaimed(
                                "a", 1, "charge", Sha256.hex(old.input().canonical()), 0, "x", false),
                        new PersonFact.Cleared(false, NONE),
                        ConversationScript.said("again"),
                        new ModelFact.ModelCalled(2),
                        ConversationScript.reply(2, use("b", "charge"), use("c", "charge", 1)),
                        finished("a", 1, "done"));

        assertThat(story.call("b").repeat()).isZero();
        assertThat(story.call("c").repeat()).isEqualTo(1);
    }

    @Test
    void unknownCall_resumedWithAnAgentWithoutCheck_isLost() {
        AgentPolicy before = policy(Optional.empty());
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>(before.policies());
        policies.put("pay", policies.get("charge"));
        AgentPolicy without = new AgentPolicy("helper", 9, before.tools(), policies, Optional.empty());

        Conversation state = Rules.apply(
                Rules.apply(
                        resumed(replied(use("a", "pay"))
                                .with(dispatched("a", 1), claimed("a", 1, "pay", "x"), lost("a", 1))),
                        new ThreadFact.AgentRequested(),
                        LATER),
                new ThreadFact.AgentResolved(without),
                LATER);

        assertThat(state.calls().get("a").orElseThrow().status()).isEqualTo(Call.Status.LOST);
        assertThat(Rules.nextSteps(state)).noneMatch(Step.VerifyTool.class::isInstance);
    }

    /** A reset has undone an approval, and restored the claim that followed it. */
    @Test
    void restoredClaim_ofACallThatWaits_isNotRunByAnApproval() {
        ConversationScript story = ToolConversationScript.replied(new Part.ToolUse("tu_1", "fire", Json.EMPTY_OBJECT))
                .with(ToolConversationScript.restored("tu_1", 1, "fire", "run-a/1/1"));

        story.with(new PersonFact.ApprovalDecided(
                true,
                Optional.empty(),
                Optional.of("tu_1"),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty()));

        assertThat(story.decides()).noneMatch(Step.RunTool.class::isInstance);
        assertThat(story.state().calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.LOST);
    }
}
