package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.claimed;
import static dev.waymark.conversation.rule.ToolConversationScript.dispatched;
import static dev.waymark.conversation.rule.ToolConversationScript.lost;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Step;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Work that a worker with other rules leaves to other workers remains due, as if that worker had not tried it. */
class NewerRulesTest {
    private static final Problem LEFT = new Problem(ProblemType.UNKNOWN_RULES, "knows rules 11");

    @Test
    void modelCall_leftByAWorker_isMadeAgain() {
        ConversationScript script =
                ToolConversationScript.begun(Optional.empty()).with(said("Hello"));
        List<Step> due = script.decides();
        script.with(new ModelFact.ModelCalled(1), new ModelFact.ModelFailed(1, LEFT, Spent.NOTHING));

        assertThat(script.decides()).isEqualTo(due);
        assertThat(script.state().turn()).returns(true, Turn::isRunning).returns(0, Turn::iterations);
        script.with(new ModelFact.ModelCalled(1), reply(1, new Part.Text("Hi")));
        assertThat(script.status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(script.messages()).hasSize(2);
    }

    @Test
    void agent_leftByAWorker_isResolvedAgain() {
        ConversationScript script = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()))
                .with(new ThreadFact.AgentRequested(), new ThreadFact.AgentRefused(LEFT));

        assertThat(script.decides()).containsExactly(new Step.ResolveAgent("helper"));
        assertThat(script.status()).isEqualTo(Turn.Status.NONE);
    }

    @Test
    void tool_leftByAllWorkers_isDispatchedAgain() {
        for (String tool : List.of("add", "charge")) {
            ConversationScript script = ToolConversationScript.replied(use("a", tool));
            for (int i = 1; i <= 2 * ToolRules.MAX_DISPATCHES; i++) {
                script.with(dispatched("a", i), new ToolFact.ToolLost("a", i, LEFT));
                script.call("a").wakeAt().ifPresent(time -> script.at(time, new ThreadFact.TimePassed()));
                assertThat(script.decides()).containsExactly(new Step.RunTool(script.call("a"), i + 1));
            }
        }
    }

    @Test
    void check_leftByAWorker_isMadeAgain() {
        ConversationScript script = ToolConversationScript.replied(use("a", "pay"))
                .with(dispatched("a", 1), claimed("a", 1, "pay", "x"), lost("a", 1));
        script.at(script.call("a").wakeAt().orElseThrow(), new ThreadFact.TimePassed());
        List<Step> due = script.decides();
        assertThat(due).containsExactly(new Step.VerifyTool(script.call("a")));
        script.with(new ToolFact.VerifyDispatched("a", 1), new ToolFact.VerifyLeft("a", 1));

        assertThat(script.decides()).hasSize(1).first().isInstanceOf(Step.VerifyTool.class);
    }
}
