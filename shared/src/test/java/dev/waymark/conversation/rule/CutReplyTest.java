package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.policy;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Usage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Incomplete replies: cut at their token limit, or without text. */
class CutReplyTest {
    private static final Part THOUGHT = new Part.Reasoning("Hm", Json.EMPTY_OBJECT);

    private static Fact cut(int step, Part... content) {
        return new ModelFact.ModelReplied(step, new Reply(List.of(content), Usage.NONE, "max_tokens"));
    }

    private static ConversationScript called() {
        return ConversationScript.ready().with(said("Tell me"), new ModelFact.ModelCalled(1));
    }

    private static ConversationScript calledOfAgentThatContinues(int most) {
        AgentPolicy plain = policy(10);
        return ConversationScript.of(new AgentPolicy(
                        plain.agent(),
                        plain.maxIterations(),
                        plain.tools(),
                        plain.policies(),
                        plain.approvals(),
                        plain.budget(),
                        plain.context(),
                        plain.summaries(),
                        plain.announce(),
                        most,
                        Optional.empty(),
                        Optional.empty()))
                .with(said("Tell me"), new ModelFact.ModelCalled(1));
    }

    private static Optional<String> problem(ConversationScript story) {
        return story.state().turn().problem().map(Problem::type);
    }

    @Test
    void cutReply_endsTheTurnAsCut_withItsText() {
        ConversationScript story = called().with(cut(1, new Part.Text("Once upon")));

        assertThat(story.status()).isEqualTo(Turn.Status.CUT);
        assertThat(story.state().turn().text()).isEqualTo("Once upon");
        assertThat(problem(story)).contains("ReplyCut");
        assertThat(story.messages()).last().isEqualTo(Message.assistant(new Part.Text("Once upon")));
    }

    @Test
    void replyWithoutText_endsTheTurnAsCut() {
        for (Part[] content : List.of(new Part[0], new Part[] {THOUGHT}, new Part[] {new Part.Text(" \n")})) {
            ConversationScript story = called().with(reply(1, content));

            assertThat(story.status()).isEqualTo(Turn.Status.CUT);
            assertThat(problem(story)).contains("ReplyEmpty");
        }
    }

    @Test
    void thinkingThatUsesUpTheLimit_isCut() {
        assertThat(problem(called().with(cut(1, THOUGHT)))).contains("ReplyCut");
    }

    @Test
    void continuingAgent_asksToContinue_andTheTextIsComplete() {
        ConversationScript story = calledOfAgentThatContinues(2)
                .with(cut(1, new Part.Text("Once ")), new ModelFact.ModelCalled(2), cut(2, new Part.Text("upon ")));
        assertThat(story.messages()).last().isEqualTo(Message.user(ToolTexts.GO_ON));
        assertThat(story.decides()).containsExactly(new Step.CallModel(3));

        story.with(new ModelFact.ModelCalled(3), reply(3, new Part.Text("a time.")));

        assertThat(story.status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(story.state().turn().text()).isEqualTo("Once upon a time.");
        assertThat(story.state().turn().iterations()).isEqualTo(3);
    }

    @Test
    void continuingAgent_atItsLimit_endsTheTurn() {
        ConversationScript story = calledOfAgentThatContinues(1)
                .with(cut(1, new Part.Text("Once ")), new ModelFact.ModelCalled(2), cut(2, new Part.Text("upon")));

        assertThat(story.status()).isEqualTo(Turn.Status.CUT);
        assertThat(story.state().turn().text()).isEqualTo("Once upon");
    }

    @Test
    void emptyContinuation_completesTheReply() {
        ConversationScript story = calledOfAgentThatContinues(1)
                .with(cut(1, new Part.Text("All of it.")), new ModelFact.ModelCalled(2), reply(2));

        assertThat(story.status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(story.state().turn().text()).isEqualTo("All of it.");
    }

    /** Parts of a JSON value may not form valid JSON. */
    @Test
    void cutReplyWithASchema_isNotContinued() {
        Json schema = Json.of(Map.of("type", "object"));
        ConversationScript asked = calledOfAgentThatContinues(3)
                .with(new PersonFact.Stopped(Optional.empty()))
                .with(new PersonFact.UserSpoke(
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(Message.user("As JSON")),
                        false,
                        Optional.of(schema)))
                .with(new ModelFact.ModelCalled(2));
        Reply half = new Reply(List.of(new Part.Text("{\"a\":")), Usage.NONE, "max_tokens").withMisfit("not JSON");

        asked.with(new ModelFact.ModelReplied(2, half));

        assertThat(problem(asked)).contains("ReplyCut");
    }

    @Test
    void retry_asksTheModelToContinue_orForText() {
        assertThat(retried(called().with(cut(1, new Part.Text("Once"))))).isEqualTo(Message.user(ToolTexts.GO_ON));
        assertThat(retried(called().with(reply(1, THOUGHT)))).isEqualTo(Message.user(ToolTexts.REPLY_WITH_TEXT));
        assertThat(retried(called().with(reply(1)))).isEqualTo(Message.user("Tell me"));
    }

    private static Message retried(ConversationScript story) {
        story.with(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.empty(), true, Optional.empty()));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        return story.messages().get(story.messages().size() - 1);
    }

    @Test
    void retry_continuesThePartialText() {
        ConversationScript story = called().with(cut(1, new Part.Text("Once ")));
        retried(story);

        story.with(new ModelFact.ModelCalled(2), reply(2, new Part.Text("upon a time.")));

        assertThat(story.status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(story.state().turn().text()).isEqualTo("Once upon a time.");
    }

    /** A service may refuse a conversation that ends with a reply of the model. */
    @Test
    void resumedThread_asksTheModelToContinue() {
        Conversation over = called().with(cut(1, new Part.Text("Once"))).state();

        Conversation next = Rules.resume(
                over,
                new Resumption("r", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty()),
                ConversationScript.START);

        assertThat(next.transcript().messages()).last().isEqualTo(Message.user(ToolTexts.GO_ON));
        assertThat(next.turn().isRunning()).isTrue();
    }

    @Test
    void messageDuringTheTurn_opensTheNextTurn() {
        ConversationScript story = called().with(said("And then?"), cut(1, new Part.Text("Once")));

        assertThat(story.status()).isEqualTo(Turn.Status.RUNNING);
        assertThat(story.state().turn().number()).isEqualTo(2);
        assertThat(story.state().turn().text()).isEmpty();
    }
}
