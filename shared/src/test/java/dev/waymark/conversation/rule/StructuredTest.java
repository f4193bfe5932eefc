package dev.waymark.conversation.rule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Step;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StructuredTest {
    private static final Json SCHEMA = Json.of(Map.of("type", "object"));
    private static final Json VALUE = Json.of(Map.of("a", 1));
    private static final Message MISFIT =
            Message.user("Your reply does not fit the JSON Schema: it is not one JSON value."
                    + " Reply once more, with one JSON value that fits it and nothing else.");

    private static PersonFact.UserSpoke wanted(Optional<Message> content, Optional<List<Message>> replacement) {
        return new PersonFact.UserSpoke(Optional.empty(), replacement, content, false, Optional.of(SCHEMA));
    }

    private static ConversationScript asked() {
        return ConversationScript.ready()
                .with(wanted(Optional.of(Message.user("How many?")), Optional.empty()), new ModelFact.ModelCalled(1));
    }

    private static Fact misfit(int step) {
        return new ModelFact.ModelReplied(
                step, Reply.of(ConversationScript.text("Many.")).withMisfit("it is not one JSON value"));
    }

    private static Fact fitting(int step) {
        return new ModelFact.ModelReplied(
                step, Reply.of(ConversationScript.text("{\"a\": 1}")).withStructured(VALUE));
    }

    @Test
    void reply_thatMatches_isAlsoTheOutcomeAsJson() {
        Turn turn = asked().with(fitting(1)).state().turn();

        assertThat(turn.status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(turn.structured()).contains(VALUE);
        assertThat(turn.text()).isEqualTo("{\"a\": 1}");
    }

    @Test
    void reply_thatDoesNotMatch_isRequestedOnceMore() {
        ConversationScript story = asked().with(misfit(1));

        assertThat(story.status()).isEqualTo(Turn.Status.RUNNING);
        assertThat(story.messages()).hasSize(3).endsWith(MISFIT);
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));

        story.with(new ModelFact.ModelCalled(2), fitting(2));

        assertThat(story.state().turn().structured()).contains(VALUE);
    }

    @Test
    void reply_thatDoesNotMatchTwice_failsTheTurn_andARetryHasBothChancesAgain() {
        ConversationScript story = asked().with(misfit(1), new ModelFact.ModelCalled(2), misfit(2));

        assertThat(story.state().turn().problem())
                .contains(new Problem(
                        ProblemType.SCHEMA_MISMATCH,
                        "the reply does not fit the schema, asked twice: it is not one JSON value"));
        assertThat(story.messages()).hasSize(4);

        story.with(ConversationScript.retried(), new ModelFact.ModelCalled(3));
        assertThat(story.messages()).hasSize(5).endsWith(MISFIT);

        story.with(misfit(3));

        assertThat(story.status()).isEqualTo(Turn.Status.RUNNING);
        assertThat(story.state().turn().schema()).contains(SCHEMA);
    }

    @Test
    void nextTurn_hasNoSchema() {
        ConversationScript story =
                asked().with(fitting(1), ConversationScript.said("Thanks"), new ModelFact.ModelCalled(2), misfit(2));

        assertThat(story.status()).isEqualTo(Turn.Status.COMPLETE);
        assertThat(story.state().turn().structured()).isEmpty();
    }

    @Test
    void repair_countsAsAnIteration() {
        ConversationScript story = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.of(1)))
                .with(
                        new ThreadFact.AgentRequested(),
                        new ThreadFact.AgentResolved(ConversationScript.policy(4)),
                        wanted(Optional.of(Message.user("How many?")), Optional.empty()),
                        new ModelFact.ModelCalled(1),
                        misfit(1));

        assertThat(story.status()).isEqualTo(Turn.Status.MAX_ITERATIONS);
    }

    @Test
    void schema_sentDuringATurn_appliesFromTheNextModelCall() {
        ConversationScript story = ConversationScript.replied(ConversationScript.use("tu_1", "ask_user"))
                .with(wanted(Optional.of(Message.user("As JSON.")), Optional.empty()));
        assertThat(story.state().turn().schema()).isEmpty();

        story.with(ConversationScript.answered("Friday"), new ModelFact.ModelCalled(2), misfit(2));

        assertThat(story.status()).isEqualTo(Turn.Status.RUNNING);
    }

    @Test
    void schema_ofAReplacedConversation_applies() {
        ConversationScript story = ConversationScript.ready()
                .with(
                        wanted(Optional.empty(), Optional.of(List.of(Message.user("How many?")))),
                        new ModelFact.ModelCalled(1),
                        misfit(1));

        assertThat(story.status()).isEqualTo(Turn.Status.RUNNING);
    }
}
