package dev.waymark.conversation.rule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BudgetTest {
    private static final Part.ToolUse ADD = new Part.ToolUse("tu_1", "add", Json.EMPTY_OBJECT);

    private static Usd usd(String dollars) {
        return Usd.of(new BigDecimal(dollars));
    }

    private static Budget dollars(String most) {
        return new Budget(Optional.of(usd(most)), Optional.empty());
    }

    private static Budget tokens(long most) {
        return new Budget(Optional.empty(), Optional.of(most));
    }

    private static ConversationScript limited(Budget budget) {
        return ConversationScript.of(ConversationScript.policy(9).withBudget(budget))
                .with(ConversationScript.said("Hello"));
    }

    private static Fact replied(int step, String cost, Part... parts) {
        return new ModelFact.ModelReplied(
                step, new Reply(List.of(parts), new Usage(10, 5), "").charged(Optional.of(usd(cost)), Spent.NOTHING));
    }

    /** A step that costs a tenth of a dollar. */
    private static ConversationScript round(ConversationScript story, int step) {
        Part.ToolUse use = ADD.withId("tu_" + step);
        return story.with(
                new ModelFact.ModelCalled(step),
                replied(step, "0.1", use),
                new ToolFact.ToolDispatched(use.id(), 1),
                new ToolFact.ToolFinished(use.id(), 1, "3", false));
    }

    private static Fact raise(Budget budget) {
        return new PersonFact.BudgetRaised(Optional.empty(), budget, Optional.empty());
    }

    @Test
    void budget_spent_endsTheTurnBeforeTheNextModelCall() {
        ConversationScript story = round(round(limited(dollars("0.2")), 1), 2);

        assertThat(story.status()).isEqualTo(Turn.Status.BUDGET);
        assertThat(story.state().turn().problem())
                .contains(new Problem("Budget", "the budget of 0.2 USD is spent: 0.2 USD"));
        assertThat(story.decides()).isEmpty();
        assertThat(story.state().transcript().messages()).hasSize(4);
    }

    @Test
    void budget_almostSpent_allowsOneMoreCall() {
        ConversationScript story = round(round(limited(dollars("0.2000000001")), 1), 2);

        assertThat(story.decides()).containsExactly(new Step.CallModel(3));
    }

    @Test
    void tokens_spent_endTheTurn() {
        assertThat(round(limited(tokens(15)), 1).status()).isEqualTo(Turn.Status.BUDGET);
        assertThat(round(limited(tokens(16)), 1).status()).isEqualTo(Turn.Status.RUNNING);
    }

    @Test
    void raise_ofTheLimitThatEndedTheTurn_continuesIt() {
        ConversationScript story = round(limited(dollars("0.1")), 1).with(raise(dollars("0.3")));

        assertThat(story.status()).isEqualTo(Turn.Status.RUNNING);
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.state().limits()).isEqualTo(dollars("0.3"));
        assertThat(story.state().turn().iterations()).isEqualTo(1);
    }

    @Test
    void raise_toTheAmountSpent_isRefused() {
        Conversation state = round(limited(dollars("0.05")), 1).state();

        assertThat(Rules.refusal(state, (Fact.Inbound) raise(dollars("0.05"))).map(Problem::message))
                .contains("the budget is 0.05 USD already");
        assertThat(Rules.refusal(state, (Fact.Inbound) raise(dollars("0.1"))).map(Problem::message))
                .contains("0.1 USD are spent already");
        assertThat(Rules.refusal(state, (Fact.Inbound) raise(tokens(5))).map(Problem::message))
                .contains("this thread has no such limit");
        assertThat(Rules.refusal(state, (Fact.Inbound) raise(dollars("0.11")))).isEmpty();
    }

    /** One fact may raise both an existing and a missing limit. */
    @Test
    void raise_ofAMissingLimit_isIgnoredTogetherWithAnExistingOne() {
        ConversationScript story = limited(tokens(1_000))
                .with(new PersonFact.BudgetRaised(Optional.of(20), dollars("5"), Optional.empty()));

        assertThat(story.state().iterationLimit()).contains(20);
        assertThat(story.state().limits()).isEqualTo(tokens(1_000));
    }

    @Test
    void raise_ofAnotherLimit_doesNotContinueTheTurn() {
        ConversationScript story = round(limited(dollars("0.1")), 1)
                .with(new PersonFact.BudgetRaised(Optional.of(20), Budget.UNLIMITED, Optional.empty()));

        assertThat(story.status()).isEqualTo(Turn.Status.BUDGET);
    }

    @Test
    void message_toAThreadOverBudget_waitsForARaise() {
        ConversationScript story = round(limited(dollars("0.1")), 1).with(ConversationScript.said("And now?"));

        assertThat(story.status()).isEqualTo(Turn.Status.BUDGET);
        assertThat(story.state().queue()).hasSize(1);
        assertThat(story.with(raise(dollars("1"))).decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void failedAttempts_withUsage_areCounted() {
        Spent lost = new Spent(new Usage(7, 0), Optional.of(usd("0.07")));
        ConversationScript story = limited(dollars("1")).with(new ModelFact.ModelCalled(1));
        story.with(new ModelFact.ModelReplied(
                1, new Reply(List.of(ADD), new Usage(10, 5), "").charged(Optional.of(usd("0.1")), lost)));
        assertThat(story.state().spent()).isEqualTo(new Spent(new Usage(17, 5), Optional.of(usd("0.17"))));
        assertThat(story.state().turn().usage()).isEqualTo(new Usage(17, 5));

        story.with(
                new ToolFact.ToolDispatched("tu_1", 1),
                new ToolFact.ToolFinished("tu_1", 1, "3", false),
                new ModelFact.ModelCalled(2),
                new ModelFact.ModelFailed(2, new Problem("Overloaded", "busy"), lost));
        assertThat(story.state().spent()).isEqualTo(new Spent(new Usage(24, 5), Optional.of(usd("0.24"))));
    }

    @Test
    void replyNoLongerAwaited_isStillCharged() {
        ConversationScript story = limited(dollars("1"))
                .with(new ModelFact.ModelCalled(1), new PersonFact.Stopped(Optional.empty()), replied(1, "0.1", ADD));

        assertThat(story.status()).isEqualTo(Turn.Status.STOPPED);
        assertThat(story.state().cost()).contains(usd("0.1"));
        assertThat(story.state().calls().contains("tu_1")).isFalse();
    }

    @Test
    void amounts_areExactAndSaturate() {
        assertThat(usd("0.0000000375").plus(usd("0.0000000375"))).isEqualTo(usd("0.000000075"));
        assertThat(usd("1e30").plus(usd("1")).picos()).isEqualTo(Long.MAX_VALUE);
        assertThat(usd("1.50").toString()).isEqualTo("1.5");
        assertThat(usd("200").toString()).isEqualTo("200");
        assertThat(usd("0.2").minus(usd("0.5"))).isEqualTo(Usd.ZERO);
    }
}
