package dev.waymark.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.state.Turn;
import dev.waymark.fixtures.ThreadFixture;
import dev.waymark.timeline.Moment;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OutcomeDetectorTest {
    private final ThreadFixture fixture = ThreadFixture.resolved("ask_user");

    @Test
    void message_turnCompletes_reachesItsOutcome() {
        fixture.says("m1", "Hello");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m1", fixture.facts());
        fixture.callsModel().replies("Hi.");

        assertThat(outcome(waiting)).contains("complete 1 Hi.");
    }

    @Test
    void message_turnStillRuns_reachesNothing() {
        fixture.says("m1", "Hello");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m1", fixture.facts());
        fixture.callsModel();

        assertThat(outcome(waiting)).isEmpty();
    }

    @Test
    void message_modelAsks_reachesTheQuestion() {
        fixture.says("m1", "Book it");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m1", fixture.facts());
        fixture.callsModel().asks("tu_7", "Which day?");

        assertThat(outcome(waiting)).contains("interrupted 1");
    }

    @Test
    void message_duringTurnWithoutTools_reachesTheNextTurnsOutcome() {
        fixture.says("m1", "One").callsModel().says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", fixture.facts());
        fixture.replies("First.").callsModel().replies("Second.");

        assertThat(outcome(waiting)).contains("complete 2 Second.");
    }

    @Test
    void message_nextTurnOpensAtOnce_reachesItsOwnTurn() {
        fixture.says("m1", "One");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m1", fixture.facts());
        fixture.callsModel().says("m2", "Two").replies("First.").callsModel();

        assertThat(outcome(waiting)).contains("complete 1 First.");
    }

    @Test
    void message_whileAPersonIsAwaited_reachesTheQuestionAtOnce() {
        fixture.says("m1", "Book it").callsModel().asks("tu_7", "Which day?").says("m2", "Hurry");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", fixture.facts());

        assertThat(outcome(waiting)).contains("interrupted 1");
        assertThat(fixture.now().queue()).hasSize(1);
    }

    @Test
    void message_turnFailsFirst_reachesTheFailure() {
        fixture.says("m1", "One").callsModel().says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", fixture.facts());
        fixture.fails("overloaded");

        assertThat(outcome(waiting)).contains("failed 1");
    }

    @Test
    void message_cleared_reachesTheStoppedTurn() {
        fixture.says("m1", "One").callsModel().says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", fixture.facts());
        fixture.then(new PersonFact.Cleared(false, Optional.empty()));

        assertThat(outcome(waiting)).contains("stopped 1");
    }

    @Test
    void message_consumedWithAnother_reachesTheSameTurn() {
        fixture.says("m1", "One").callsModel().says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", fixture.facts());
        fixture.says("m3", "Three").replies("First.").callsModel().replies("Both.");

        assertThat(outcome(waiting)).contains("complete 2 Both.");
    }

    @Test
    void message_ignoresEarlierOutcomes() {
        fixture.says("m1", "One").callsModel().replies("First.").says("m2", "Two");
        OutcomeDetector waiting = OutcomeDetector.forMessage("m2", fixture.facts());
        fixture.callsModel().replies("Second.");

        assertThat(outcome(waiting)).contains("complete 2 Second.");
    }

    @Test
    void message_sentAgainLater_reachesTheOldOutcome() {
        fixture.says("m1", "One");
        int fact = fixture.facts();
        fixture.callsModel().replies("First.").says("m2", "Two").callsModel().replies("Second.");

        assertThat(outcome(OutcomeDetector.forMessage("m1", fact))).contains("complete 1 First.");
    }

    @Test
    void answer_turnContinues_reachesItsOutcome() {
        fixture.says("m1", "Book it").callsModel().asks("tu_7", "Which day?").answers("tu_7", "Friday");
        OutcomeDetector waiting = OutcomeDetector.forTurnAt(fixture.facts());
        fixture.callsModel().replies("Booked.");

        assertThat(outcome(waiting)).contains("complete 1 Booked.");
    }

    @Test
    void answer_anotherQuestionIsOpen_reachesThatQuestion() {
        fixture.says("m1", "Book it")
                .callsModel()
                .replies(ThreadFixture.ask("tu_7", "Which day?"), ThreadFixture.ask("tu_8", "Which room?"))
                .answers("tu_7", "Friday");

        assertThat(outcome(OutcomeDetector.forTurnAt(fixture.facts()))).contains("interrupted 1");
    }

    @Test
    void budget_raisedAfterTheLimit_waitsForTheContinuedTurn() {
        ThreadFixture limited = ThreadFixture.begun();
        limited.then(new ThreadFact.AgentRequested())
                .then(new ThreadFact.AgentResolved(new dev.waymark.conversation.call.AgentPolicy(
                        "assistant",
                        1,
                        java.util.Map.of("ask_user", dev.waymark.conversation.call.AgentPolicy.Executor.QUESTION))))
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
        fixture.says("m1", "One").callsModel().fails("overloaded");
        fixture.then(new PersonFact.UserSpoke(Optional.of("r1"), Optional.empty(), Optional.empty(), true));
        OutcomeDetector waiting = OutcomeDetector.forTurnAt(fixture.facts());
        fixture.callsModel().replies("There.");

        assertThat(outcome(waiting)).contains("complete 2 There.");
    }

    @Test
    void replacement_reachesTheTurnThatItOpens() {
        fixture.says("m1", "One").callsModel();
        fixture.then(new PersonFact.UserSpoke(
                Optional.of("r1"), Optional.of(List.of(Message.user("Else"))), Optional.empty(), false));
        OutcomeDetector waiting = OutcomeDetector.forTurnAt(fixture.facts());
        fixture.callsModel().replies("Other.");

        assertThat(outcome(waiting)).contains("complete 2 Other.");
    }

    private Optional<String> outcome(OutcomeDetector waiting) {
        return outcome(waiting, fixture.moments());
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
