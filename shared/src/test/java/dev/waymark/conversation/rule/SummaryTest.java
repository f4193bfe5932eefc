package dev.waymark.conversation.rule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SummaryTest {
    private static final Part.ToolUse ADD = new Part.ToolUse("tu_1", "add", Json.EMPTY_OBJECT);

    private static ConversationScript summarised(long whenTokens, int keep) {
        return ConversationScript.of(ConversationScript.policy(9).withSummaries(new SummaryRule(whenTokens, keep)))
                .with(ConversationScript.said("One"));
    }

    private static Fact replied(int step, long tokens, Part... parts) {
        return new ModelFact.ModelReplied(step, new Reply(List.of(parts), new Usage(tokens, 0), ""));
    }

    private static Fact summary(int step, String words) {
        return new ModelFact.Summarised(step, new Reply(List.of(ConversationScript.text(words)), new Usage(7, 3), ""));
    }

    /** A complete turn of four messages, whose last reply had 100 tokens of input, and the message of the next turn. */
    private static ConversationScript secondTurn(int keep) {
        return summarised(100, keep)
                .with(
                        new ModelFact.ModelCalled(1),
                        replied(1, 20, ADD),
                        new ToolFact.ToolDispatched("tu_1", 1),
                        ConversationScript.finished("tu_1", "3"),
                        new ModelFact.ModelCalled(2),
                        replied(2, 100, ConversationScript.text("Three")),
                        ConversationScript.said("Two"));
    }

    @Test
    void conversation_belowTheLimit_isNotSummarised() {
        ConversationScript story = summarised(100, 1)
                .with(
                        new ModelFact.ModelCalled(1),
                        replied(1, 90, ConversationScript.text("Hi")),
                        ConversationScript.said("Two"));

        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void conversation_atTheLimit_isSummarisedBeforeTheModelIsAsked() {
        assertThat(secondTurn(1).decides()).containsExactly(new Step.Summarize(3));
    }

    @Test
    void agentWithoutARule_isNeverSummarised() {
        ConversationScript story = ConversationScript.ready()
                .with(
                        ConversationScript.said("One"),
                        new ModelFact.ModelCalled(1),
                        replied(1, 1_000_000, ConversationScript.text("Hi")),
                        ConversationScript.said("Two"));

        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.state().dialogue().tokenEstimate()).isEmpty();
    }

    @Test
    void summary_replacesTheOlderPart_andTheTurnContinues() {
        ConversationScript story = secondTurn(1).with(new ModelFact.SummaryRequested(3));
        assertThat(story.state().isSummarizing()).isTrue();
        assertThat(story.state().messagesToSummarize())
                .isEqualTo(story.messages().subList(0, 4))
                .doesNotContain(Message.user("Two"));

        story.with(summary(3, "They added.\n"));

        assertThat(story.messages())
                .containsExactly(
                        Message.user("[Previous conversation summary]\nThey added.\n"
                                + "[End of summary - recent messages follow]"),
                        Message.user("Two"));
        assertThat(story.state().usage()).isEqualTo(new Usage(127, 3));
        assertThat(story.state().turn().iterations()).isZero();
        assertThat(story.decides()).containsExactly(new Step.CallModel(4));
    }

    @Test
    void summary_neverSeparatesACallFromItsResult() {
        ConversationScript story = summarised(100, 1)
                .with(
                        new ModelFact.ModelCalled(1),
                        replied(1, 20, ConversationScript.text("Hi")),
                        ConversationScript.said("Two"),
                        new ModelFact.ModelCalled(2),
                        replied(2, 100, ADD),
                        new ToolFact.ToolDispatched("tu_1", 1),
                        ConversationScript.finished("tu_1", "3"),
                        new ModelFact.SummaryRequested(3),
                        summary(3, "They met."));

        assertThat(story.messages().subList(1, 3))
                .containsExactly(
                        Message.assistant(ADD), ConversationScript.results(ConversationScript.result("tu_1", "3")));
        assertThat(Pairing.violation(story.messages())).isEmpty();
    }

    @Test
    void summary_isAlwaysFollowedByAModelCall() {
        ConversationScript story = secondTurn(1).with(new ModelFact.SummaryRequested(3), summary(3, "x".repeat(4_000)));
        assertThat(story.decides()).containsExactly(new Step.CallModel(4));

        story.with(
                new ModelFact.ModelCalled(4),
                replied(4, 1_100, ConversationScript.text("Ok")),
                ConversationScript.said("Three"));

        assertThat(story.decides()).containsExactly(new Step.Summarize(5));
    }

    @Test
    void fewMessages_areNeverSummarised() {
        assertThat(secondTurn(3).decides()).containsExactly(new Step.CallModel(3));
        assertThat(secondTurn(2).decides()).containsExactly(new Step.Summarize(3));
    }

    @Test
    void newMessages_countByEstimate() {
        ConversationScript story = summarised(1_000, 1)
                .with(
                        new ModelFact.ModelCalled(1),
                        replied(1, 10, ConversationScript.text("Hi")),
                        ConversationScript.said("x".repeat(3_900)));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));

        story.with(ConversationScript.said("x".repeat(200)));

        assertThat(story.decides()).containsExactly(new Step.Summarize(2));
    }

    @Test
    void image_isNotEstimatedByItsLength() {
        Message picture = new Message(Role.USER, List.of(new Part.ImageData("x".repeat(100_000), "image/png")));
        ConversationScript story = summarised(2_000, 1)
                .with(ConversationScript.replaced(
                        Message.user("a"), Message.assistant(ConversationScript.text("b")), picture));

        assertThat(story.decides()).containsExactly(new Step.CallModel(1));
    }

    @Test
    void largeReplacement_isSummarisedBeforeItsFirstModelCall() {
        ConversationScript story = summarised(100, 1)
                .with(ConversationScript.replaced(
                        Message.user("x".repeat(500)),
                        Message.assistant(ConversationScript.text("b")),
                        Message.user("c")));

        assertThat(story.decides()).containsExactly(new Step.Summarize(1));
    }

    @Test
    void failedSummary_leavesTheConversation_andIsCharged() {
        Spent spent = new Spent(new Usage(7, 0), Optional.empty());
        ConversationScript story = secondTurn(1)
                .with(
                        new ModelFact.SummaryRequested(3),
                        new ModelFact.SummaryFailed(3, new Problem("Provider", "overloaded"), spent));

        assertThat(story.messages()).hasSize(5);
        assertThat(story.state().usage()).isEqualTo(new Usage(127, 0));
        assertThat(story.status()).isEqualTo(Turn.Status.RUNNING);
        assertThat(story.decides()).containsExactly(new Step.CallModel(4));
    }

    @Test
    void emptySummary_leavesTheConversation() {
        ConversationScript story = secondTurn(1).with(new ModelFact.SummaryRequested(3), summary(3, " \n"));

        assertThat(story.messages()).hasSize(5);
        assertThat(story.decides()).containsExactly(new Step.CallModel(4));
    }

    @Test
    void stop_duringASummary_leavesTheConversation_andTheSummaryIsCharged() {
        ConversationScript story =
                secondTurn(1).with(new ModelFact.SummaryRequested(3), new PersonFact.Stopped(Optional.empty()));
        List<Message> before = story.messages();

        story.with(summary(3, "Too late."));

        assertThat(story.status()).isEqualTo(Turn.Status.STOPPED);
        assertThat(story.messages()).isEqualTo(before);
        assertThat(story.state().usage()).isEqualTo(new Usage(127, 3));
    }

    @Test
    void budget_spentByASummary_endsTheTurn() {
        ConversationScript story = ConversationScript.of(ConversationScript.policy(9)
                        .withSummaries(new SummaryRule(100, 1))
                        .withBudget(new Budget(Optional.empty(), Optional.of(110L))))
                .with(
                        ConversationScript.said("One"),
                        new ModelFact.ModelCalled(1),
                        replied(1, 100, ConversationScript.text("Hi")),
                        ConversationScript.said("Two"),
                        new ModelFact.SummaryRequested(2),
                        summary(2, "They met."));

        assertThat(story.status()).isEqualTo(Turn.Status.BUDGET);
        assertThat(story.messages()).hasSize(2);
    }

    @Test
    void resumption_afterAnEndDuringASummary_requestsItAgain() {
        Conversation over = secondTurn(1)
                .with(new ModelFact.SummaryRequested(3), new ThreadFact.CancelRequested())
                .state();

        Conversation goesOn = Rules.resume(
                over,
                new Resumption("r-1", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty()),
                ConversationScript.START.plusSeconds(60));

        assertThat(goesOn.turn().iterations()).isZero();
        assertThat(Rules.nextSteps(goesOn))
                .containsExactly(new Step.Summarize(goesOn.counters().steps() + 1));
    }

    @Test
    void fork_duringASummary_withAReplacedConversation_requestsAReply() {
        Conversation forked = Rules.apply(
                Rules.fork(
                        secondTurn(1).with(new ModelFact.SummaryRequested(3)).state(),
                        new ForkRequest("f", Optional.empty()),
                        ConversationScript.START.plusSeconds(60)),
                ConversationScript.replaced(Message.user("Anew")),
                ConversationScript.START.plusSeconds(61));
        assertThat(Rules.nextSteps(forked)).containsExactly(new Step.CallModel(3));

        Conversation called =
                Rules.apply(forked, new ModelFact.ModelCalled(3), ConversationScript.START.plusSeconds(62));

        assertThat(called.isSummarizing()).isFalse();
    }

    /** A turn with one call, and the message of the next turn. The last of the given facts ends the call. */
    private static ConversationScript called(Part.ToolUse use, Fact... life) {
        return called(new SummaryRule(100, 1), use, life);
    }

    private static ConversationScript called(SummaryRule rule, Part.ToolUse use, Fact... life) {
        return ConversationScript.of(
                        ToolConversationScript.policy(Optional.empty()).withSummaries(rule))
                .with(ConversationScript.said("One"), new ModelFact.ModelCalled(1), replied(1, 20, use))
                .with(life)
                .with(
                        new ModelFact.ModelCalled(2),
                        replied(2, 100, ConversationScript.text("Three")),
                        ConversationScript.said("Two"));
    }

    private static ConversationScript addedAndSummarised() {
        return called(ADD, ToolConversationScript.dispatched("tu_1", 1), ConversationScript.finished("tu_1", "3"))
                .with(new ModelFact.SummaryRequested(3), summary(3, "They added."));
    }

    @Test
    void summary_dropsTheHarmlessCallsThatItReplaces() {
        ConversationScript story = addedAndSummarised();

        assertThat(story.state().calls().toMap()).isEmpty();
        assertThat(story.state().callBook().countDropped(1)).isEqualTo(1);
        assertThat(story.state().callBook().countDropped(2)).isZero();
    }

    /** A stopped call may still report what it did. */
    @Test
    void summary_dropsFailedCalls_andKeepsStoppedOnes() {
        Fact dispatched = ToolConversationScript.dispatched("tu_1", 1);
        ConversationScript failed =
                called(ADD, dispatched, new ToolFact.ToolFinished("tu_1", 1, "Tool error: 3?", true));
        ConversationScript stopped =
                called(ADD, dispatched, new PersonFact.Stopped(Optional.empty()), ConversationScript.said("Go on"));
        for (ConversationScript story : List.of(failed, stopped)) {
            story.with(new ModelFact.SummaryRequested(3), summary(3, "They added."));
        }

        assertThat(failed.state().calls().toMap()).isEmpty();
        assertThat(stopped.call("tu_1").status()).isEqualTo(Call.Status.CANCELLED);
    }

    @Test
    void idOfADroppedCall_isNotUsedAgain() {
        ConversationScript story = addedAndSummarised().with(new ModelFact.ModelCalled(4), replied(4, 30, ADD));

        assertThat(story.state().batch()).containsExactly("tu_1~2");
    }

    @Test
    void droppedCall_restoredByAReplacement_isRecordedOnce() {
        ConversationScript story = addedAndSummarised()
                .with(
                        new PersonFact.Stopped(Optional.empty()),
                        ConversationScript.replaced(
                                Message.user("One"),
                                Message.assistant(ADD),
                                ConversationScript.results(ConversationScript.result("tu_1", "3")),
                                Message.user("Three")));

        assertThat(story.state().calls().toMap()).containsOnlyKeys("tu_1");
        assertThat(story.state().callBook().countDropped()).isZero();
    }

    @Test
    void summary_keepsTheCallsOfKeptMessages() {
        ConversationScript story = called(
                        ADD, ToolConversationScript.dispatched("tu_1", 1), ConversationScript.finished("tu_1", "3"))
                .with(
                        new ModelFact.ModelCalled(3),
                        replied(3, 100, new Part.ToolUse("tu_2", "add", Json.EMPTY_OBJECT)),
                        ToolConversationScript.dispatched("tu_2", 1),
                        ConversationScript.finished("tu_2", "4"),
                        new ModelFact.SummaryRequested(4),
                        summary(4, "They added."));

        assertThat(story.state().calls().toMap()).containsOnlyKeys("tu_2");
        assertThat(Pairing.violation(story.messages())).isEmpty();
    }

    @Test
    void summary_keepsCallsWithSideEffects_answeredCalls_andUnknownTools() {
        Part.ToolUse charge = new Part.ToolUse("tu_1", "charge", Json.EMPTY_OBJECT);
        Part.ToolUse ask = new Part.ToolUse("tu_1", "ask_user", Json.of(Map.of("question", "Which?")));
        Part.ToolUse unknown = new Part.ToolUse("tu_1", "gone", Json.EMPTY_OBJECT);
        List<ConversationScript> stories = List.of(
                called(
                        charge,
                        ToolConversationScript.dispatched("tu_1", 1),
                        ToolConversationScript.claimed("tu_1", 1, "charge", "run-1/1"),
                        ConversationScript.finished("tu_1", "done")),
                called(ask, ConversationScript.answered("This one")),
                called(unknown));

        for (ConversationScript story : stories) {
            Call before = story.state().calls().get("tu_1").orElseThrow();
            story.with(new ModelFact.SummaryRequested(3), summary(3, "They added."));

            assertThat(story.messages()).hasSize(2);
            assertThat(story.state().calls().get("tu_1")).contains(before);
        }
    }

    @Test
    void request_containsCallsAndResults_butNoReasoning() {
        List<Message> messages = List.of(
                Message.user("Add"),
                Message.assistant(new Part.Reasoning("hm", Json.EMPTY_OBJECT), ConversationScript.text("Sure."), ADD),
                ConversationScript.results(ConversationScript.error("tu_1", "no")));

        assertThat(Summary.request(messages))
                .isEqualTo(Message.user("User: Add\n\nAssistant: Sure.\nCall tu_1: add {}\n\nError of tu_1: no"
                        + "\n\nSummarize the conversation above."));
    }
}
