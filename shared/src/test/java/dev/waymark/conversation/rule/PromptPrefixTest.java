package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.ReplySchema;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.IgnoredSignal;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each prompt extends the previous one, or the state records where the prompt begins anew. */
class PromptPrefixTest {
    private static final Json SCHEMA = Json.of(Map.of("type", "object"));

    private static ConversationScript answered() {
        return ConversationScript.ready()
                .with(said("One"), new ModelFact.ModelCalled(1), reply(1, new Part.Text("Two")));
    }

    private static PersonFact.UserSpoke asking(String words, Optional<Json> schema) {
        return new PersonFact.UserSpoke(
                Optional.empty(), Optional.empty(), Optional.of(Message.user(words)), false, schema);
    }

    private static ConversationScript failed(ConversationScript story, int step, String type, String message) {
        return story.with(
                new ModelFact.ModelCalled(step),
                new ModelFact.ModelFailed(step, new Problem(type, message), Spent.NOTHING));
    }

    @Test
    void thread_thatOnlyGrows_hasOnePrefix() {
        assertThat(answered()
                        .with(said("Three"), new ModelFact.ModelCalled(2))
                        .state()
                        .boundFrom())
                .isZero();
    }

    @Test
    void summary_beginsAPrefix_afterTheKeptMessages() {
        AgentPolicy summed = ConversationScript.policy(10).withSummaries(new SummaryRule(1, 2));
        ConversationScript story = ConversationScript.of(summed)
                .with(said("One"), new ModelFact.ModelCalled(1), reply(1, new Part.Text("Two")), said("Three"));
        story.with(
                new ModelFact.SummaryRequested(2),
                new ModelFact.Summarised(2, Reply.of(new Part.Text("They counted."))));

        assertThat(story.messages()).hasSize(3);
        assertThat(story.state().boundFrom()).isEqualTo(3);
    }

    @Test
    void clearAndReplacement_beginAPrefix() {
        assertThat(answered().with(new PersonFact.Cleared(false, NONE)).state().boundFrom())
                .isZero();
        List<Message> others = List.of(Message.user("Hello"), Message.assistant(new Part.Text("Hi")));
        ConversationScript replaced = answered()
                .with(new PersonFact.UserSpoke(
                        Optional.empty(),
                        Optional.of(others),
                        Optional.of(Message.user("And?")),
                        false,
                        Optional.empty()));

        assertThat(replaced.state().boundFrom()).isEqualTo(2);
    }

    @Test
    void refusedReasoning_isNotSentToThatModelAgain() {
        ConversationScript story = ConversationScript.ready().with(said("One"), new ModelFact.ModelCalled(1));
        story.with(new ModelFact.ModelReplied(
                1, Reply.of(new Part.Text("Two")).answeredBy("anthropic:m").refusingReasoning()));

        assertThat(story.state().unreadableBefore("anthropic:m")).isEqualTo(1);
        assertThat(story.state().unreadableBefore("")).isZero();
        assertThat(story.with(new PersonFact.Cleared(false, NONE)).state().unreadableBefore("anthropic:m"))
                .isZero();
    }

    @Test
    void schema_staysAfterItsMessage_inEveryLaterPrompt() {
        ConversationScript story =
                ConversationScript.ready().with(asking("How many?", Optional.of(SCHEMA)), new ModelFact.ModelCalled(1));
        Message first = story.state().transcript().prompt().get(0);
        assertThat(first.content())
                .containsExactly(new Part.Text("How many?"), new Part.Text(ReplySchema.request(SCHEMA)));
        story.with(new ModelFact.ModelReplied(1, Reply.of(new Part.Text("{}")).withStructured(Json.EMPTY_OBJECT)))
                .with(said("And why?"), new ModelFact.ModelCalled(2));

        assertThat(story.state().transcript().prompt()).first().isEqualTo(first);
        assertThat(story.state().transcript().messages()).first().isEqualTo(Message.user("How many?"));
    }

    /** A service puts its own field for the schema at the beginning of the prompt. */
    @Test
    void schemaMissingInTheFirstRequest_isNotHeld() {
        ConversationScript held =
                ConversationScript.ready().with(asking("How many?", Optional.of(SCHEMA)), new ModelFact.ModelCalled(1));
        assertThat(held.state().heldSchema()).contains(SCHEMA);
        held.with(new ModelFact.ModelReplied(1, Reply.of(new Part.Text("{}")).withStructured(Json.EMPTY_OBJECT)));
        held.with(said("Why?"), new ModelFact.ModelCalled(2));
        assertThat(held.state().heldSchema()).isEmpty();
        held.with(reply(2, new Part.Text("So.")), asking("Again", Optional.of(SCHEMA)), new ModelFact.ModelCalled(3));
        assertThat(held.state().heldSchema()).isEmpty();

        ConversationScript late =
                answered().with(asking("How many?", Optional.of(SCHEMA)), new ModelFact.ModelCalled(2));
        assertThat(late.state().heldSchema()).isEmpty();
    }

    @Test
    void refusedMessage_isRemovedByTheNextMessage_andReported() {
        ConversationScript story = failed(answered().with(said("Bad")), 2, "Refused", "the service refuses");
        assertThat(story.messages()).hasSize(3);

        story.with(said("Good"), new ModelFact.ModelCalled(3));

        assertThat(story.messages())
                .containsExactly(Message.user("One"), Message.assistant(new Part.Text("Two")), Message.user("Good"));
        assertThat(story.state().ignored().last())
                .extracting(IgnoredSignal::reason)
                .containsExactly("taken back, because the service refused to read it: m3");
        assertThat(story.state().boundFrom()).isZero();
    }

    @Test
    void refusedMessage_isSentAgainByARetry() {
        ConversationScript story = failed(answered().with(said("Bad")), 2, "Refused", "the service refuses");
        story.with(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.empty(), true, Optional.empty()));

        assertThat(story.with(new ModelFact.ModelCalled(3)).messages()).last().isEqualTo(Message.user("Bad"));
    }

    @Test
    void refusedResult_isWithheld_butKept() {
        ConversationScript story = ToolConversationScript.replied(use("a", "add"))
                .with(ToolConversationScript.dispatched("a", 1), ToolConversationScript.finished("a", 1, "poison"));
        failed(story, 2, "BadRequest", "messages.2.content.0: not allowed").with(said("Go on"));
        story.with(new ModelFact.ModelCalled(3));

        assertThat(story.messages().get(2))
                .isEqualTo(Message.results(List.of(new Part.ToolResult("a", ToolTexts.WITHHELD, true))));
        assertThat(story.messages()).last().isEqualTo(Message.user("Go on"));
    }

    /** The index is that of a message which the model has answered before. */
    @Test
    void refusalOfAnOlderMessage_removesNothing() {
        ConversationScript story = failed(answered().with(said("Fine")), 2, "BadRequest", "messages.0.content.1: gone");

        assertThat(story.with(said("Again"), new ModelFact.ModelCalled(3)).messages())
                .hasSize(4);
    }

    @Test
    void schemaWithoutMessage_followsTheResultsOfTheNewestCalls() {
        ConversationScript story = ToolConversationScript.replied(use("a", "add"))
                .with(ToolConversationScript.dispatched("a", 1), ToolConversationScript.finished("a", 1, "3"))
                .with(new PersonFact.Stopped(NONE))
                .with(new PersonFact.UserSpoke(
                        Optional.empty(), Optional.empty(), Optional.empty(), true, Optional.of(SCHEMA)));
        story.with(new ModelFact.ModelCalled(2));

        assertThat(story.messages().get(2).toolResults()).hasSize(1);
        assertThat(story.messages()).last().isEqualTo(Message.user(ReplySchema.request(SCHEMA)));
    }

    @Test
    void otherFailures_removeNothing() {
        ConversationScript story = failed(answered().with(said("Fine")), 2, "Overloaded", "try later");

        assertThat(story.with(said("Again"), new ModelFact.ModelCalled(3)).messages())
                .hasSize(4);
        assertThat(story.state().turn().status()).isEqualTo(Turn.Status.RUNNING);
    }
}
