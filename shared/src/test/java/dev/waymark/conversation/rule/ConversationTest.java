package dev.waymark.conversation.rule;

import static dev.waymark.conversation.message.Message.user;
import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.answered;
import static dev.waymark.conversation.rule.ConversationScript.ask;
import static dev.waymark.conversation.rule.ConversationScript.error;
import static dev.waymark.conversation.rule.ConversationScript.finished;
import static dev.waymark.conversation.rule.ConversationScript.goOn;
import static dev.waymark.conversation.rule.ConversationScript.raised;
import static dev.waymark.conversation.rule.ConversationScript.ready;
import static dev.waymark.conversation.rule.ConversationScript.replaced;
import static dev.waymark.conversation.rule.ConversationScript.replied;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.result;
import static dev.waymark.conversation.rule.ConversationScript.results;
import static dev.waymark.conversation.rule.ConversationScript.retried;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.text;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.Counters;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.IgnoredSignal;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Usage;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ConversationTest {
    private static final Problem OVERLOADED = new Problem("Provider", "overloaded");
    private static final Problem TOO_LARGE = new Problem(ProblemType.TOO_LARGE, "too large to carry");
    private static final Fact STOP = new PersonFact.Stopped(Optional.of("ann"));
    private static final Fact CLEAR = new PersonFact.Cleared(false, NONE);
    private static final Fact CLOSE = new PersonFact.CloseRequested(NONE);

    // ---- starting

    @Test
    void thread_new_resolvesItsAgent() {
        ConversationScript story = ConversationScript.begun(
                new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()));

        assertThat(story.decides()).containsExactly(new Step.ResolveAgent("helper"));
    }

    @Test
    void thread_ofNewerRules_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES + 1, "helper", false, Optional.empty())))
                .withMessageContaining("Use a newer version");
    }

    @Test
    void message_beforeTheAgentIsKnown_waitsForIt() {
        ConversationScript story = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()))
                .with(said("Hello"), new ThreadFact.AgentRequested());

        assertThat(story.decides()).isEmpty();
        assertThat(story.with(new ThreadFact.AgentResolved(ConversationScript.policy(4)))
                        .decides())
                .containsExactly(new Step.CallModel(1));
    }

    @Test
    void agent_unknown_failsTheTurnAndClosesTheThread() {
        ConversationScript story = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()))
                .with(said("Hello"), new ThreadFact.AgentRequested())
                .with(new ThreadFact.AgentRefused(new Problem(ProblemType.NOT_FOUND, "no agent helper")));

        assertThat(story.state().turn().problem()).contains(new Problem(ProblemType.NOT_FOUND, "no agent helper"));
        assertThat(story.decides()).containsExactly(new Step.Close(false));
    }

    @Test
    void agent_cancelledWithItsThread_leavesTheTurnCancelled() {
        ConversationScript story = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()))
                .with(said("Hello"), new ThreadFact.AgentRequested(), new ThreadFact.CancelRequested())
                .with(new ThreadFact.AgentRefused(new Problem("Cancelled", "cancelled")));

        assertThat(story.status()).isEqualTo(Turn.Status.CANCELLED);
    }

    // ---- messages and turns

    @Test
    void turn_replyWithoutCalls_completes() {
        ConversationScript story = replied(text("Hi"));

        assertThat(story.messages()).containsExactly(user("Hello"), Message.assistant(text("Hi")));
        assertThat(story.state().turn())
                .isEqualTo(new Turn(
                        1,
                        Turn.Status.COMPLETE,
                        1,
                        new Usage(10, 5),
                        "Hi",
                        Optional.empty(),
                        ConversationScript.START.plusSeconds(3)));
        assertThat(story.decides()).isEmpty();
    }

    @Test
    void turn_ofAThreadForOneTurn_closesIt() {
        ConversationScript story = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", true, Optional.empty()))
                .with(
                        said("Hello"),
                        new ThreadFact.AgentRequested(),
                        new ThreadFact.AgentResolved(ConversationScript.policy(4)))
                .with(new ModelFact.ModelCalled(1), reply(1, text("Hi")));

        assertThat(story.decides()).containsExactly(new Step.Close(false));
    }

    @Test
    void message_duringATurn_joinsBeforeTheNextModelCallAndAfterTheResults() {
        ConversationScript story = replied(use("a", "add"))
                .with(
                        said("More"),
                        new ToolFact.ToolDispatched("a", 1),
                        finished("a", "3"),
                        new ModelFact.ModelCalled(2));

        assertThat(story.messages())
                .containsExactly(
                        user("Hello"), Message.assistant(use("a", "add")), results(result("a", "3")), user("More"));
    }

    @Test
    void messages_whenTheTurnCompletes_openTheNextTogether() {
        ConversationScript story = ready().with(said("Hello"), new ModelFact.ModelCalled(1), said("One"), said("Two"));
        story.with(reply(1, text("Hi")));

        assertThat(story.state().turn().number()).isEqualTo(2);
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.with(new ModelFact.ModelCalled(2)).messages())
                .containsExactly(user("Hello"), Message.assistant(text("Hi")), user("One"), user("Two"));
    }

    @Test
    void message_whileAQuestionIsOpen_answersNothing() {
        ConversationScript story = replied(ask("a", "Which day?")).with(said("Friday"));

        assertThat(story.state().isInterrupted()).isTrue();
        assertThat(story.state().queue()).hasSize(1);
    }

    @Test
    void message_ofASeenId_isIgnored() {
        ConversationScript story = ready().with(said("m-1", "Hello"));

        assertThat(story.refusal(said("m-1", "Hello"))).contains(ProblemType.DUPLICATE);
        assertThat(story.with(said("m-1", "Hello")).state().ignored().last())
                .containsExactly(new IgnoredSignal(
                        "say", "a message with id m-1 arrived before", ConversationScript.START.plusSeconds(4)));
    }

    @Test
    void message_ofASeenIdAfterAClear_isStillIgnored() {
        assertThat(ready().with(said("m-1", "Hello"), CLEAR).refusal(said("m-1", "Hello")))
                .contains(ProblemType.DUPLICATE);
    }

    @Test
    void message_afterARefusal_canBeSentAgain() {
        ConversationScript story =
                ready().with(said("Hello"), new ThreadFact.LimitReached(TOO_LARGE), said("m-1", "More"), CLEAR);

        assertThat(story.refusal(said("m-1", "More"))).isEmpty();
    }

    @Test
    void message_withoutContentInABlankThread_isRefused() {
        assertThat(ready().refusal(goOn())).contains(ProblemType.BAD_INPUT);
    }

    @Test
    void message_withoutContentDuringATurn_isRefused() {
        assertThat(ready().with(said("Hello")).refusal(goOn())).contains(ProblemType.BAD_INPUT);
    }

    @Test
    void retry_whileTheTurnWaitsForAPerson_saysSo() {
        assertThat(Rules.refusal(replied(ask("a", "Day?")).state(), retried()))
                .contains(new Problem(ProblemType.BAD_INPUT, "the turn waits for a person"));
    }

    @Test
    void message_withoutContentAfterATurn_asksTheModelAgain() {
        assertThat(replied(text("Hi")).with(goOn()).decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void model_failure_failsTheTurnAndKeepsTheTranscript() {
        ConversationScript story =
                ready().with(said("Hello"), new ModelFact.ModelCalled(1), new ModelFact.ModelFailed(1, OVERLOADED));

        assertThat(story.state().turn().problem()).contains(OVERLOADED);
        assertThat(story.messages()).containsExactly(user("Hello"));
        assertThat(story.decides()).isEmpty();
    }

    @Test
    void retry_afterAFailure_asksTheModelAgain() {
        ConversationScript story =
                ready().with(said("Hello"), new ModelFact.ModelCalled(1), new ModelFact.ModelFailed(1, OVERLOADED));

        assertThat(story.with(retried()).decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.messages()).containsExactly(user("Hello"));
    }

    @Test
    void retry_afterACompleteTurn_isRefused() {
        assertThat(replied(text("Hi")).refusal(retried())).contains(ProblemType.NOT_FOUND);
    }

    @Test
    void retry_afterAClear_isRefused() {
        assertThat(ready().with(said("Hello"), CLEAR).refusal(retried())).contains(ProblemType.BAD_INPUT);
    }

    @Test
    void reply_afterAStop_isIgnored() {
        ConversationScript story = ready().with(said("Hello"), new ModelFact.ModelCalled(1), STOP, said("Again"));
        Conversation before = story.with(new ModelFact.ModelCalled(2)).state();
        Conversation after = story.with(reply(1, text("Hi"))).state();

        assertThat(after.transcript()).isEqualTo(before.transcript());
        assertThat(after.turn()).isEqualTo(before.turn());
        assertThat(after.modelCalled()).isTrue();
    }

    // ---- tools

    @Test
    void calls_independent_runConcurrently() {
        assertThat(replied(use("a", "add"), use("b", "lookup")).decides())
                .extracting(step -> ((Step.RunTool) step).call().id())
                .containsExactly("a", "b");
    }

    @Test
    void results_inAnyOrder_enterInCallOrder() {
        ConversationScript story = replied(use("a", "add"), use("b", "lookup"))
                .with(new ToolFact.ToolDispatched("a", 1), new ToolFact.ToolDispatched("b", 1))
                .with(finished("b", "B"), finished("a", "A"), new ModelFact.ModelCalled(2));

        assertThat(story.messages()).last().isEqualTo(results(result("a", "A"), result("b", "B")));
    }

    @Test
    void call_ofAnUnknownTool_listsTheTools() {
        ConversationScript story = replied(use("a", "fly")).with(new ModelFact.ModelCalled(2));

        assertThat(story.messages())
                .last()
                .isEqualTo(results(error("a", "Tool \"fly\" not found. Available tools: add, lookup, ask_user")));
    }

    @Test
    void call_ofAnUnknownTool_withoutAnyTools_saysSo() {
        ConversationScript story = ConversationScript.of(new AgentPolicy("helper", 4, Map.of()))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, use("a", "fly")));

        assertThat(story.call("a").result()).contains("Tool \"fly\" not found. Available tools: none");
    }

    @Test
    void question_withoutText_isInvalidInput() {
        ConversationScript story = replied(use("a", "ask_user"));

        assertThat(story.call("a").toolResult())
                .contains(error(
                        "a", "Invalid input for tool \"ask_user\": \"question\" is required and must be a string"));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    /** If this were slow, Temporal would report a deadlock on every worker that tries the task. */
    @Test
    @Timeout(10)
    void callIds_oneRepeatedThousandsOfTimes_areRenamedQuickly() {
        Part[] uses = Collections.nCopies(10_000, use("", "unknown")).toArray(Part[]::new);

        ConversationScript story = ConversationScript.replied(uses);

        assertThat(story.state().batch())
                .hasSize(uses.length)
                .doesNotHaveDuplicates()
                .startsWith("call", "call~2")
                .endsWith("call~10000");
    }

    @Test
    void callId_usedBefore_isRenamed() {
        ConversationScript story = replied(use("tu_7", "fly")).with(new ModelFact.ModelCalled(2));
        story.with(reply(2, use("tu_7", "add"), use("tu_7", "add"), use("tu_7~2", "add"), use("", "add")));

        assertThat(story.state().batch()).containsExactly("tu_7~2", "tu_7~3", "tu_7~2~2", "call");
        assertThat(story.messages().get(3).toolUses())
                .extracting(Part.ToolUse::id)
                .containsExactly("tu_7~2", "tu_7~3", "tu_7~2~2", "call");
    }

    @Test
    void calls_aboveTheParallelLimit_startAsOthersEnd() {
        Part.ToolUse[] uses = new Part.ToolUse[Decider.MAX_PARALLEL_CALLS + 2];
        Arrays.setAll(uses, i -> use("c" + i, "add"));
        ConversationScript story = replied(uses);
        assertThat(story.decides()).hasSize(Decider.MAX_PARALLEL_CALLS);

        for (int i = 0; i < Decider.MAX_PARALLEL_CALLS; i++) {
            story.with(new ToolFact.ToolDispatched("c" + i, 1));
        }
        assertThat(story.decides()).isEmpty();
        assertThat(story.with(finished("c7", "3")).decides()).containsExactly(new Step.RunTool(story.call("c50"), 1));
    }

    @Test
    void calls_aboveTheLimitPerReply_areNotRun() {
        Part.ToolUse[] uses = new Part.ToolUse[Conversation.MAX_CALLS + 1];
        Arrays.setAll(uses, i -> use("c" + i, "add"));

        ConversationScript story = replied(uses);

        assertThat(story.state().openCalls()).hasSize(Conversation.MAX_CALLS);
        assertThat(story.call("c500").toolResult())
                .contains(error("c500", "Tool error: too many calls in one reply, of at most 500"));
    }

    @Test
    void call_withTooLargeArguments_isNotRun() {
        Json large = Json.of(Map.of("x", "x".repeat(CallRules.MAX_ARGS_LENGTH)));
        ConversationScript story = replied(new Part.ToolUse("a", "add", large));

        assertThat(story.call("a").toolResult()).contains(error("a", "Invalid input for tool \"add\": too large"));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void call_lost_isAnErrorThatTheModelSees() {
        ConversationScript story = replied(use("a", "add"))
                .with(new ToolFact.ToolDispatched("a", 1))
                .with(new ToolFact.ToolLost("a", 1, new Problem("Timeout", "the worker was lost")));

        assertThat(story.call("a").toolResult()).contains(error("a", "Tool error: the worker was lost"));
    }

    @Test
    void result_ofAnotherDispatch_isIgnored() {
        ConversationScript story = replied(use("a", "add")).with(new ToolFact.ToolDispatched("a", 1));
        Conversation before = story.state();

        assertThat(story.with(new ToolFact.ToolFinished("a", 2, "3", false))
                        .state()
                        .calls())
                .isEqualTo(before.calls());
    }

    // ---- questions

    @Test
    void question_withRunningSiblings_isNotAnInterruptionYet() {
        ConversationScript story =
                replied(ask("a", "Which day?"), use("b", "add")).with(new ToolFact.ToolDispatched("b", 1));

        assertThat(story.state().isInterrupted()).isFalse();
        assertThat(story.with(finished("b", "3")).state().isInterrupted()).isTrue();
    }

    @Test
    void question_answered_keepsTheSiblingsResults() {
        ConversationScript story = replied(use("a", "add"), ask("b", "Which day?"), use("c", "lookup"))
                .with(new ToolFact.ToolDispatched("a", 1), new ToolFact.ToolDispatched("c", 1))
                .with(finished("c", "C"), finished("a", "A"), answered("Friday"), new ModelFact.ModelCalled(2));

        assertThat(story.messages())
                .last()
                .isEqualTo(results(result("a", "A"), result("b", "Friday"), result("c", "C")));
    }

    @Test
    void questions_several_areAnsweredInAnyOrder() {
        ConversationScript story = replied(ask("a", "Day?"), ask("b", "Hour?"));

        assertThat(story.refusal(answered("Friday"))).contains(ProblemType.CALL_REQUIRED);
        story.with(answered("b", "Noon"), answered("Friday"), new ModelFact.ModelCalled(2));
        assertThat(story.messages()).last().isEqualTo(results(result("a", "Friday"), result("b", "Noon")));
    }

    @Test
    void question_ofATool_isAnsweredWithoutRunningItAgain() {
        ConversationScript story = replied(use("a", "add"))
                .with(new ToolFact.ToolDispatched("a", 1), new ToolFact.ToolInterrupted("a", 1, "Sure?"), answered(""));

        assertThat(story.call("a").toolResult()).contains(result("a", ""));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void answer_withoutAnOpenQuestion_isRefusedWithTheReason() {
        ConversationScript story =
                replied(ask("a", "Day?"), ask("b", "Hour?"), use("c", "fly")).with(answered("a", "Friday"));

        assertThat(story.refusal(answered("a", "Monday"))).contains(ProblemType.ALREADY_DECIDED);
        assertThat(story.refusal(answered("c", "x"))).contains(ProblemType.NOT_FOUND);
        assertThat(story.refusal(answered("z", "x"))).contains(ProblemType.NOT_FOUND);
        assertThat(ready().refusal(answered("x"))).contains(ProblemType.NOT_FOUND);
    }

    @Test
    void approval_ifNothingWaits_isRefused() {
        assertThat(ready().refusal(
                                new PersonFact.ApprovalDecided(true, NONE, NONE, Optional.empty(), NONE, NONE, NONE)))
                .contains(ProblemType.NOT_FOUND);
    }

    // ---- stop, clear, replace

    @Test
    void stop_withOpenCalls_cancelsThemAndKeepsResultsAndQueue() {
        ConversationScript story = replied(use("a", "add"), ask("b", "Day?"), use("c", "lookup"))
                .with(new ToolFact.ToolDispatched("a", 1), new ToolFact.ToolDispatched("c", 1), finished("a", "A"))
                .with(said("More"), STOP);

        assertThat(story.status()).isEqualTo(Turn.Status.STOPPED);
        assertThat(story.decides()).isEmpty();
        assertThat(story.with(finished("c", "late"), said("Go on"), new ModelFact.ModelCalled(2))
                        .messages())
                .endsWith(
                        results(result("a", "A"), error("b", "Cancelled by ann."), error("c", "Cancelled by ann.")),
                        user("More"),
                        user("Go on"));
    }

    @Test
    void stop_whenNoTurnRuns_isRefused() {
        assertThat(ready().refusal(new PersonFact.Stopped(NONE))).contains(ProblemType.NOT_FOUND);
    }

    @Test
    void clear_duringATurn_stopsItAndDeletes() {
        ConversationScript story = replied(use("a", "add")).with(said("More"), CLEAR);

        assertThat(story.status()).isEqualTo(Turn.Status.STOPPED);
        assertThat(story.state().isBlank()).isTrue();
        assertThat(story.state().counters().messages()).isEqualTo(2);
    }

    @Test
    void clear_deletesTheContentOfCallsButNotTheCalls() {
        ConversationScript story = replied(ask("a", "Day?")).with(answered("Friday"), CLEAR);

        assertThat(story.call("a").args()).isEqualTo(Json.EMPTY_OBJECT);
        assertThat(story.call("a").status()).isEqualTo(Call.Status.COMPLETED);
        assertThat(story.refusal(answered("a", "x"))).contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void replacement_duringATurn_stopsItAndOpensTheNext() {
        ConversationScript story = replied(use("a", "add"))
                .with(replaced(user("2+2?"), Message.assistant(use("x", "add")), results(result("x", "4"))));

        assertThat(story.state().ended())
                .hasValueSatisfying(turn -> assertThat(turn.status()).isEqualTo(Turn.Status.STOPPED));
        assertThat(story.state().turn().number()).isEqualTo(2);
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.messages()).first().isEqualTo(user("2+2?"));
    }

    @Test
    void replacement_withOwnCalls_keepsTheirRecords() {
        ConversationScript story = replied(use("a", "fly"))
                .with(replaced(user("?"), Message.assistant(use("a", "fly")), results(result("a", "fine"))));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.FAILED);
    }

    @Test
    void replacement_withForeignCalls_reservesTheirIds() {
        ConversationScript story = ready().with(
                        replaced(user("?"), Message.assistant(use("x", "add")), results(result("x", "4"))))
                .with(new ModelFact.ModelCalled(1), reply(1, use("x", "add")));

        assertThat(story.state().batch()).containsExactly("x~2");
    }

    @Test
    void replacement_withADanglingCall_isRefused() {
        assertThat(ready().refusal(replaced(user("?"), Message.assistant(use("x", "add")))))
                .contains(ProblemType.CORRUPTION);
    }

    @Test
    void replacement_empty_clears() {
        ConversationScript story = replied(text("Hi")).with(replaced());

        assertThat(story.state().isBlank()).isTrue();
        assertThat(story.decides()).isEmpty();
    }

    // ---- limits

    @Test
    void turn_atItsLimit_endsBeforeTheNextModelCall() {
        ConversationScript story = atLimit();

        assertThat(story.state().turn().problem())
                .contains(new Problem("MaxIterations", "the limit of 1 iterations is reached"));
        assertThat(story.decides()).isEmpty();
    }

    @Test
    void budget_raised_continuesTheTurnThatItEnded() {
        ConversationScript story = atLimit().with(raised(2));

        assertThat(story.state().turn().number()).isEqualTo(1);
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void budget_notHigher_isRefused() {
        assertThat(atLimit().refusal(raised(1))).contains(ProblemType.BAD_INPUT);
    }

    @Test
    void budget_beforeTheLimitIsKnown_isRefused() {
        assertThat(ConversationScript.begun(
                                new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()))
                        .refusal(raised(3)))
                .contains(ProblemType.BAD_INPUT);
    }

    @Test
    void budget_raisedAfterAClear_continuesNothing() {
        assertThat(atLimit().with(CLEAR, raised(2)).decides()).isEmpty();
    }

    @Test
    void thread_tooLargeToCarry_failsTheTurnAndRefusesMessages() {
        ConversationScript story = replied(use("a", "add")).with(new ThreadFact.LimitReached(TOO_LARGE));

        assertThat(story.state().turn().problem()).contains(TOO_LARGE);
        assertThat(story.call("a").toolResult()).contains(error("a", "Cancelled: too large to carry"));
        assertThat(story.refusal(said("More"))).contains(ProblemType.TOO_LARGE);
        assertThat(story.refusal(retried())).contains(ProblemType.TOO_LARGE);
    }

    @Test
    void thread_tooLargeAndCleared_continues() {
        ConversationScript story =
                replied(use("a", "add")).with(new ThreadFact.LimitReached(TOO_LARGE), CLEAR, said("Anew"));

        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
    }

    @Test
    void thread_tooLargeAfterTheLimit_isNotContinuedByARaise() {
        assertThat(atLimit().with(new ThreadFact.LimitReached(TOO_LARGE)).refusal(raised(2)))
                .contains(ProblemType.TOO_LARGE);
    }

    // ---- ending

    @Test
    void close_duringATurn_waitsForItsEnd() {
        ConversationScript story = ready().with(said("Hello"), new ModelFact.ModelCalled(1), CLOSE);

        assertThat(story.decides()).isEmpty();
        assertThat(story.refusal(said("More"))).contains(ProblemType.CLOSED);
        assertThat(story.with(reply(1, text("Hi"))).decides()).containsExactly(new Step.Close(false));
    }

    @Test
    void close_whileAQuestionIsOpen_stillAcceptsTheAnswer() {
        assertThat(replied(ask("a", "Day?")).with(CLOSE).refusal(answered("Friday")))
                .isEmpty();
    }

    @Test
    void cancel_withOpenCalls_endsThemAndCloses() {
        ConversationScript story = replied(use("a", "add"), ask("b", "Day?")).with(new ThreadFact.CancelRequested());

        assertThat(story.status()).isEqualTo(Turn.Status.CANCELLED);
        assertThat(story.call("a").toolResult()).contains(error("a", "Cancelled with its thread."));
        assertThat(story.decides()).containsExactly(new Step.Close(true));
        assertThat(story.refusal(said("More"))).contains(ProblemType.CLOSED);
        assertThat(story.refusal(new PersonFact.Cleared(false, NONE))).contains(ProblemType.CLOSED);
    }

    @Test
    void ignored_manyMessages_keepsTheNewestTwenty() {
        ConversationScript story = ready();
        for (int i = 0; i < 25; i++) {
            story.with(new ThreadFact.MessageIgnored("s" + i, new Problem(ProblemType.BAD_INPUT, "x".repeat(100_000))));
        }

        assertThat(story.state().ignored().count()).isEqualTo(25);
        assertThat(story.state().ignored().last())
                .extracting(IgnoredSignal::signal)
                .startsWith("s5")
                .endsWith("s24")
                .hasSize(20);
        assertThat(story.state().ignored().last().get(0).reason()).hasSize(500).endsWith("x…");
    }

    @Test
    void versions_areCountedPerStepAndPerInterruption() {
        ConversationScript story = replied(ask("a", "Day?"));
        assertThat(story.state().counters().versions()).isEqualTo(1);

        story.with(answered("Friday"));
        assertThat(story.state().counters().versions()).isEqualTo(2);

        story.with(new ModelFact.ModelCalled(2), reply(2, text("Booked.")));
        assertThat(story.state().counters()).isEqualTo(new Counters(9, 2, 3, 4));
    }

    private static ConversationScript atLimit() {
        return ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.of(1)))
                .with(new ThreadFact.AgentRequested(), new ThreadFact.AgentResolved(ConversationScript.policy(4)))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, use("a", "fly")));
    }
}
