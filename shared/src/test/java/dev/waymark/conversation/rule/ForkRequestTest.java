package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.ask;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.text;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ForkRequestTest {
    private static final Instant LATER = ConversationScript.START.plusSeconds(3_600);
    private static final ForkRequest SILENT = new ForkRequest("f", Optional.empty());
    private static final ForkRequest SPEAKING = new ForkRequest("f", Optional.of(Message.user("And now?")));

    private static ConversationScript asked(Part... parts) {
        Map<String, AgentPolicy.Executor> tools =
                new LinkedHashMap<>(ConversationScript.policy(4).tools());
        tools.put("charge", AgentPolicy.Executor.ACTIVITY);
        AgentPolicy.ToolPolicy ofTool =
                new AgentPolicy.ToolPolicy(true, false, false, false, false, 60_000, false, false);
        AgentPolicy policy = new AgentPolicy("helper", 9, tools, Map.of("charge", ofTool), Optional.empty());
        return ConversationScript.of(policy).with(said("Charge"), new ModelFact.ModelCalled(1), reply(1, parts));
    }

    private static ConversationScript claimed() {
        return asked(use("tu_1", "charge"))
                .with(new ToolFact.ToolDispatched("tu_1", 1))
                .with(new ToolFact.ToolClaimed("tu_1", 1, "charge", Sha256.hex("{}"), 0, "run/1/x", false));
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    @Test
    void completedCall_repeatedInAFork_returnsTheRecordedResult() {
        ConversationScript story = claimed()
                .with(new ToolFact.ToolFinished("tu_1", 1, "charged 5", false))
                .with(new ModelFact.ModelCalled(2), reply(2, text("Done.")));

        Conversation again = Rules.apply(
                Rules.apply(Rules.fork(story.state(), SPEAKING, LATER), new ModelFact.ModelCalled(3), LATER),
                reply(3, use("other", "charge")),
                LATER);

        assertThat(call(again, "other").status()).isEqualTo(Call.Status.COMPLETED);
        assertThat(call(again, "other").result()).contains("[idempotent replay of tu_1]: charged 5");
        assertThat(Rules.nextSteps(again)).containsExactly(new Step.CallModel(4));
    }

    @Test
    void openCall_inAFork_isUnknownAndNeverRuns() {
        Conversation forked = Rules.fork(claimed().state(), SILENT, LATER);

        assertThat(call(forked, "tu_1").status()).isEqualTo(Call.Status.LOST);
        assertThat(call(forked, "tu_1").result().orElseThrow()).contains("tool-durability-error");
        assertThat(Rules.nextSteps(forked)).isEmpty();
    }

    @Test
    void fork_withoutAMessage_runsNothing() {
        assertThat(Rules.nextSteps(Rules.fork(
                        ConversationScript.ready().with(said("Hello")).state(), SILENT, LATER)))
                .isEmpty();
        assertThat(Rules.nextSteps(Rules.fork(
                        ConversationScript.ready()
                                .with(said("Hello"), new ModelFact.ModelCalled(1))
                                .state(),
                        SILENT,
                        LATER)))
                .isEmpty();
    }

    @Test
    void fork_withoutAMessageDuringATurn_stopsTheTurnAsForked() {
        Conversation forked = Rules.fork(claimed().state(), SILENT, LATER);

        assertThat(forked.turn().status()).isEqualTo(Turn.Status.STOPPED);
        assertThat(forked.turn().problem())
                .contains(new Problem(ProblemType.FORKED, "the thread was forked in the middle of this turn"));
    }

    @Test
    void openQuestion_staysOpen_unlessAMessageIsSent() {
        ConversationScript story = asked(ask("tu_1", "Which day?"));

        assertThat(Rules.fork(story.state(), SILENT, LATER).isInterrupted()).isTrue();
        Conversation spoken = Rules.fork(story.state(), SPEAKING, LATER);
        assertThat(Rules.nextSteps(spoken)).containsExactly(new Step.CallModel(2));
        assertThat(Pairing.violation(Rules.apply(spoken, new ModelFact.ModelCalled(2), LATER)
                        .transcript()
                        .messages()))
                .isEmpty();
    }

    @Test
    void keys_ofAFork_areThoseOfANewSession() {
        ConversationScript story = claimed().with(new ToolFact.ToolFinished("tu_1", 1, "Tool error: no", true));

        Conversation again = Rules.apply(
                Rules.apply(Rules.fork(story.state(), SPEAKING, LATER), new ModelFact.ModelCalled(2), LATER),
                reply(2, use("other", "charge")),
                LATER);

        assertThat(again.session()).isEmpty();
        assertThat(call(again, "other").repeat()).isZero();
        assertThat(Rules.nextSteps(again)).containsExactly(new Step.RunTool(call(again, "other"), 1));
    }
}
