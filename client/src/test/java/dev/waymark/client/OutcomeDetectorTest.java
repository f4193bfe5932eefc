package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.state.Turn;
import dev.waymark.history.Moment;
import dev.waymark.testkit.ThreadFixture;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OutcomeDetectorTest {
    private final ThreadFixture tale = ThreadFixture.resolved("ask_user");

    @Test
    void message_turnCompletes_reachesItsOutcome() {
        tale.says("m1", "Hello");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m1", tale.facts());
        tale.callsModel().replies("Hi.");

        assertThat(outcome(waiting)).contains("complete 1 Hi.");
    }

    @Test
    void message_turnStillRuns_reachesNothing() {
        tale.says("m1", "Hello");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m1", tale.facts());
        tale.callsModel();

        assertThat(outcome(waiting)).isEmpty();
    }

    @Test
    void message_modelAsks_reachesTheQuestion() {
        tale.says("m1", "Book it");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m1", tale.facts());
        tale.callsModel().asks("tu_7", "Which day?");

        assertThat(outcome(waiting)).contains("interrupted 1");
    }

    @Test
    void message_duringTurnWithoutTools_reachesTheNextTurnsOutcome() {
        tale.says("m1", "One").callsModel().says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", tale.facts());
        tale.replies("First.").callsModel().replies("Second.");

        assertThat(outcome(waiting)).contains("complete 2 Second.");
    }

    @Test
    void message_nextTurnOpensAtOnce_reachesItsOwnTurn() {
        tale.says("m1", "One");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m1", tale.facts());
        tale.callsModel().says("m2", "Two").replies("First.").callsModel();

        assertThat(outcome(waiting)).contains("complete 1 First.");
    }

    @Test
    void message_whileAPersonIsAwaited_reachesTheQuestionAtOnce() {
        tale.says("m1", "Book it").callsModel().asks("tu_7", "Which day?").says("m2", "Hurry");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", tale.facts());

        assertThat(outcome(waiting)).contains("interrupted 1");
        assertThat(tale.now().queue()).hasSize(1);
    }

    @Test
    void message_turnFailsFirst_reachesTheFailure() {
        tale.says("m1", "One").callsModel().says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", tale.facts());
        tale.fails("overloaded");

        assertThat(outcome(waiting)).contains("failed 1");
    }

    @Test
    void message_cleared_reachesTheStoppedTurn() {
        tale.says("m1", "One").callsModel().says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", tale.facts());
        tale.then(new PersonFact.Cleared(false, Optional.empty()));

        assertThat(outcome(waiting)).contains("stopped 1");
    }

    @Test
    void message_consumedWithAnother_reachesTheSameTurn() {
        tale.says("m1", "One").callsModel().says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", tale.facts());
        tale.says("m3", "Three").replies("First.").callsModel().replies("Both.");

        assertThat(outcome(waiting)).contains("complete 2 Both.");
    }

    @Test
    void message_ignoresEarlierOutcomes() {
        tale.says("m1", "One").callsModel().replies("First.").says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", tale.facts());
        tale.callsModel().replies("Second.");

        assertThat(outcome(waiting)).contains("complete 2 Second.");
    }

    @Test
    void message_sentAgainLater_reachesTheOldOutcome() {
        tale.says("m1", "One");
        int fact = tale.facts();
        tale.callsModel().replies("First.").says("m2", "Two").callsModel().replies("Second.");

        assertThat(outcome(OutcomeDetector.forMessage("m1", fact))).contains("complete 1 First.");
    }

    @Test
    void answer_turnContinues_reachesItsOutcome() {
        tale.says("m1", "Book it").callsModel().asks("tu_7", "Which day?").answers("tu_7", "Friday");
        OutcomeDetector waiting = OutcomeDetector.forTurnAt(tale.facts());
        tale.callsModel().replies("Booked.");

        assertThat(outcome(waiting)).contains("complete 1 Booked.");
    }

    @Test
    void answer_anotherQuestionIsOpen_reachesThatQuestion() {
        tale.says("m1", "Book it")
                .callsModel()
                .replies(ThreadFixture.ask("tu_7", "Which day?"), ThreadFixture.ask("tu_8", "Which room?"))
                .answers("tu_7", "Friday");

        assertThat(outcome(OutcomeDetector.forTurnAt(tale.facts()))).contains("interrupted 1");
    }

    @Test
    void budget_raisedAfterTheLimit_waitsForTheContinuedTurn() {
        ThreadFixture limited = ThreadFixture.begun();
        limited.then(new ThreadFact.AgentRequested())
                .then(new ThreadFact.AgentResolved(new dev.waymark.conversation.policy.AgentPolicy(
                        "assistant",
                        1,
                        java.util.Map.of("ask_user", dev.waymark.conversation.policy.AgentPolicy.Executor.QUESTION))))
                .says("m1", "Book it")
                .callsModel()
                .asks("tu_7", "Which day?")
                .answers("tu_7", "Friday");
        assertThat(limited.now().turn().status()).isEqualTo(Turn.Status.MAX_ITERATIONS);

        limited.then(new PersonFact.BudgetRaised(Optional.of(5), Optional.empty()));
        OutcomeDetector waiting = OutcomeDetector.forTurnAt(limited.facts());
        assertThat(outcome(waiting, limited.moments())).isEmpty();
        limited.callsModel().replies("Booked.");
        assertThat(outcome(OutcomeDetector.forTurnAt(limited.facts()), limited.moments()))
                .contains("complete 1 Booked.");
    }

    @Test
    void retry_reachesTheNewTurn() {
        tale.says("m1", "One").callsModel().fails("overloaded");
        tale.then(new PersonFact.UserSpoke(Optional.of("r1"), Optional.empty(), Optional.empty(), true));
        OutcomeDetector waiting = OutcomeDetector.forTurnAt(tale.facts());
        tale.callsModel().replies("There.");

        assertThat(outcome(waiting)).contains("complete 2 There.");
    }

    @Test
    void replacement_reachesTheTurnThatItOpens() {
        tale.says("m1", "One").callsModel();
        tale.then(new PersonFact.UserSpoke(
                Optional.of("r1"), Optional.of(List.of(Message.user("Else"))), Optional.empty(), false));
        OutcomeDetector waiting = OutcomeDetector.forTurnAt(tale.facts());
        tale.callsModel().replies("Other.");

        assertThat(outcome(waiting)).contains("complete 2 Other.");
    }

    private Optional<String> outcome(OutcomeDetector waiting) {
        return outcome(waiting, tale.moments());
    }

    private static Optional<String> outcome(OutcomeDetector waiting, List<Moment> moments) {
        for (Moment moment : moments) {
            Optional<OutcomeDetector.Reached> reached = waiting.observe(moment);
            if (reached.isPresent()) {
                AgentResult result = AgentResult.of(
                        "t1",
                        reached.get().runId(),
                        reached.get().state(),
                        reached.get().turn());
                String text = result instanceof AgentResult.Complete complete ? " " + complete.text() : "";
                return Optional.of(result.status() + " " + result.details().turn() + text);
            }
        }
        return Optional.empty();
    }
}
