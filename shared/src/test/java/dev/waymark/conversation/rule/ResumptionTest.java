package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.answered;
import static dev.waymark.conversation.rule.ConversationScript.ask;
import static dev.waymark.conversation.rule.ConversationScript.finished;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.text;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ResumptionTest {
    private static final Instant LATER = ConversationScript.START.plusSeconds(3_600);
    private static final Resumption ONWARD =
            new Resumption("r", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty());
    private static final AgentPolicy.ToolPolicy EFFECT =
            new AgentPolicy.ToolPolicy(true, false, false, false, false, 60_000, false, false);
    private static final AgentPolicy.ToolPolicy VERIFIED =
            new AgentPolicy.ToolPolicy(true, false, false, true, false, 60_000, true, false);

    private static Resumption answering(String words) {
        return new Resumption("r", Optional.empty(), Optional.of(words), Optional.empty(), false, Optional.empty());
    }

    private static AgentPolicy charging(AgentPolicy.ToolPolicy policy) {
        Map<String, AgentPolicy.Executor> tools =
                new LinkedHashMap<>(ConversationScript.policy(4).tools());
        tools.put("charge", AgentPolicy.Executor.ACTIVITY);
        return new AgentPolicy("helper", 4, tools, Map.of("charge", policy), Optional.empty());
    }

    /** A thread whose model requests one charge, which is dispatched. */
    private static ConversationScript charged(AgentPolicy.ToolPolicy policy) {
        return ConversationScript.of(charging(policy))
                .with(said("Charge"), new ModelFact.ModelCalled(1), reply(1, use("tu_1", "charge")))
                .with(new ToolFact.ToolDispatched("tu_1", 1));
    }

    private static Fact claim() {
        return new ToolFact.ToolClaimed("tu_1", 1, "charge", Sha256.hex("{}"), 0, "run/1/x", false);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    @Test
    void pendingModelCall_isRepeatedAndCountsOnce() {
        ConversationScript story = ConversationScript.ready().with(said("Hello"), new ModelFact.ModelCalled(1));

        Conversation begun = Rules.resume(story.state(), ONWARD, LATER);

        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.CallModel(1));
        assertThat(begun.turn().iterations()).isZero();
        assertThat(begun.transcript()).isEqualTo(story.state().transcript());
    }

    @Test
    void dispatchedCall_withoutAClaim_isDispatchedAgain() {
        Conversation begun = Rules.resume(charged(EFFECT).state(), ONWARD, LATER);

        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.RunTool(call(begun, "tu_1"), 2));
    }

    @Test
    void claimedCall_isLostAndNeverRunAgain() {
        Conversation begun = Rules.resume(charged(EFFECT).with(claim()).state(), ONWARD, LATER);

        assertThat(call(begun, "tu_1").status()).isEqualTo(Call.Status.LOST);
        assertThat(call(begun, "tu_1").result().orElseThrow()).contains("tool-durability-error", "had been claimed");
        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.CallModel(2));
    }

    /** Whether the call has side effects is not known yet. It is claimed, so it has. */
    @Test
    void claimedCall_thatEndsBeforeTheAgentIsKnown_usesItsKeyUp() {
        Conversation begun = Rules.resume(
                charged(EFFECT).with(claim()).state(),
                new Resumption("r", Optional.of("other"), Optional.empty(), Optional.empty(), false, Optional.empty()),
                LATER);

        Conversation next = Rules.apply(
                Rules.apply(
                        Rules.apply(
                                Rules.apply(
                                        Rules.apply(
                                                begun,
                                                new ToolFact.ToolEndedLate("tu_1", "run/1/x", finished("tu_1", "paid")),
                                                LATER),
                                        new ThreadFact.AgentRequested(),
                                        LATER),
                                new ThreadFact.AgentResolved(charging(EFFECT)),
                                LATER),
                        new ModelFact.ModelCalled(2),
                        LATER),
                reply(2, use("tu_2", "charge")),
                LATER);

        assertThat(call(next, "tu_1").status()).isEqualTo(Call.Status.COMPLETED);
        assertThat(call(next, "tu_2").repeat()).isEqualTo(1);
    }

    @Test
    void claimedCall_withVerify_isVerifiedOnceItsFenceHasPassed() {
        ConversationScript story = charged(VERIFIED).with(claim());
        Instant claimedAt = story.call("tu_1").claim().orElseThrow().at();
        Instant fence = claimedAt.plusSeconds(60).plus(LostCallRules.FENCE);

        Conversation early = Rules.resume(story.state(), ONWARD, claimedAt.plusSeconds(1));
        Conversation late = Rules.resume(story.state(), ONWARD, fence.plus(Duration.ofSeconds(1)));

        assertThat(Rules.nextSteps(early)).containsExactly(new Step.WakeAt(fence));
        assertThat(Rules.nextSteps(late)).containsExactly(new Step.VerifyTool(call(late, "tu_1")));
    }

    @Test
    void pendingCheck_isRepeated() {
        ConversationScript story = charged(VERIFIED)
                .with(claim(), new ToolFact.ToolLost("tu_1", 1, new Problem("Timeout", "the worker was lost")));
        Conversation verifying = Rules.apply(
                Rules.apply(story.state(), new ThreadFact.TimePassed(), LATER),
                new ToolFact.VerifyDispatched("tu_1", 1),
                LATER);

        Conversation begun = Rules.resume(verifying, ONWARD, LATER);

        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.VerifyTool(call(begun, "tu_1")));
    }

    /** The state of a checkpoint that has an approved call without a result. */
    private static Conversation approvedInAFile() {
        return new Restoration(ConversationScript.START, false)
                .say(Message.user("Charge"), Optional.empty(), ConversationScript.START)
                .say(
                        new Message(Role.ASSISTANT, List.of(use("tu_1", "charge"))),
                        Optional.empty(),
                        ConversationScript.START)
                .approved("tu_1")
                .restore();
    }

    @Test
    void approvalInAFile_doesNotAllowARerun() {
        AgentPolicy.ToolPolicy guarded =
                new AgentPolicy.ToolPolicy(true, true, false, false, true, 60_000, true, false);
        Conversation begun = Rules.apply(
                Rules.apply(Rules.resume(approvedInAFile(), ONWARD, LATER), new ThreadFact.AgentRequested(), LATER),
                new ThreadFact.AgentResolved(charging(guarded)),
                LATER);
        Conversation settled = Rules.apply(
                begun,
                new PersonFact.OutcomeSettled("tu_1", CallSettlement.Outcome.RERUN, Optional.empty(), Optional.empty()),
                LATER);

        assertThat(call(begun, "tu_1").approval().orElseThrow().stated()).isTrue();
        assertThat(call(begun, "tu_1").status()).isEqualTo(Call.Status.UNSETTLED);
        assertThat(call(settled, "tu_1").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(Rules.nextSteps(settled)).isEmpty();
    }

    /** No execution of the call is known to run, so a second check would not find more. */
    @Test
    void callFromAFile_withoutAnEffect_isVerifiedOnceAndThenLost() {
        AgentPolicy.ToolPolicy checked =
                new AgentPolicy.ToolPolicy(true, false, false, true, false, 60_000, false, false);
        Conversation begun = Rules.apply(
                Rules.apply(Rules.resume(approvedInAFile(), ONWARD, LATER), new ThreadFact.AgentRequested(), LATER),
                new ThreadFact.AgentResolved(charging(checked)),
                LATER);
        Instant over = LATER.plusSeconds(60).plus(LostCallRules.FENCE);
        Conversation due = Rules.apply(begun, new ThreadFact.TimePassed(), over);
        assertThat(Rules.nextSteps(due)).containsExactly(new Step.VerifyTool(call(due, "tu_1")));

        int dispatch = call(due, "tu_1").dispatches();
        Conversation verified = Rules.apply(
                Rules.apply(due, new ToolFact.VerifyDispatched("tu_1", dispatch), over),
                new ToolFact.ToolVerified("tu_1", dispatch, Optional.of(false), Optional.empty()),
                over);

        assertThat(call(verified, "tu_1").status()).isEqualTo(Call.Status.LOST);
    }

    @Test
    void context_ofTheRequest_replacesTheRecordedOne() {
        Json own = Json.of(Map.of("tenant", "acme"));
        Resumption onward = new Resumption(
                "r", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty(), Optional.of(own));
        ConversationScript story = ConversationScript.ready().with(said("Hello"), new ModelFact.ModelCalled(1));

        assertThat(Rules.resume(story.state(), onward, LATER).context()).contains(own);
        assertThat(Rules.resume(Rules.resume(story.state(), onward, LATER), ONWARD, LATER)
                        .context())
                .contains(own);
    }

    @Test
    void runningSafeCall_isRunAgain() {
        ConversationScript story =
                ConversationScript.replied(use("tu_1", "add")).with(new ToolFact.ToolDispatched("tu_1", 1));

        Conversation begun = Rules.resume(story.state(), ONWARD, LATER);

        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.RunTool(call(begun, "tu_1"), 2));
    }

    @Test
    void openQuestion_staysOpen_andQueuedMessagesStay() {
        ConversationScript story = ConversationScript.replied(ask("tu_1", "Which day?"), use("tu_2", "add"))
                .with(new ToolFact.ToolDispatched("tu_2", 1), finished("tu_2", "3"), said("And hurry"));

        Conversation begun = Rules.resume(story.state(), ONWARD, LATER);

        assertThat(begun.isInterrupted()).isTrue();
        assertThat(begun.questions()).isEqualTo(story.state().questions());
        assertThat(begun.queue()).isEqualTo(story.state().queue());
        assertThat(begun.counters().versions())
                .isEqualTo(story.state().counters().versions());
    }

    @Test
    void answer_isTheResultOfTheOpenQuestion_evenAnEmptyOne() {
        ConversationScript story = ConversationScript.replied(ask("tu_1", "Which day?"));

        Conversation begun = Rules.resume(story.state(), answering(""), LATER);

        assertThat(begun)
                .usingRecursiveComparison()
                .ignoringFields("counters", "arrivals.seen", "identity.updatedAt", "callBook.calls")
                .isEqualTo(story.with(answered("")).state());
        assertThat(call(begun, "tu_1").result()).contains("");
        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.CallModel(2));
    }

    @Test
    void answer_atTheIterationLimit_isKept() {
        ConversationScript story = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.of(1)))
                .with(new ThreadFact.AgentRequested(), new ThreadFact.AgentResolved(ConversationScript.policy(4)))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, ask("tu_1", "Which day?")));

        Conversation begun = Rules.resume(story.state(), answering("Friday"), LATER);

        assertThat(begun.turn().status()).isEqualTo(Turn.Status.MAX_ITERATIONS);
        assertThat(call(begun, "tu_1").result()).contains("Friday");
    }

    @Test
    void turnAtItsLimit_continuesWithAHigherLimit_andItsIterationsCount() {
        ConversationScript story = ConversationScript.begun(
                        new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.of(1)))
                .with(new ThreadFact.AgentRequested(), new ThreadFact.AgentResolved(ConversationScript.policy(4)))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, use("tu_1", "add")))
                .with(new ToolFact.ToolDispatched("tu_1", 1), finished("tu_1", "3"));
        Resumption more =
                new Resumption("r", Optional.empty(), Optional.empty(), Optional.of(5), false, Optional.empty());

        assertThat(Rules.resume(story.state(), ONWARD, LATER).turn().status()).isEqualTo(Turn.Status.MAX_ITERATIONS);
        Conversation begun = Rules.resume(story.state(), more, LATER);
        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.CallModel(2));
        assertThat(begun.turn().iterations()).isEqualTo(1);
    }

    @Test
    void failedTurn_continues() {
        ConversationScript story = ConversationScript.ready()
                .with(
                        said("Hello"),
                        new ModelFact.ModelCalled(1),
                        new ModelFact.ModelFailed(1, new Problem("Provider", "no")));

        Conversation begun = Rules.resume(story.state(), ONWARD, LATER);

        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.CallModel(2));
        assertThat(begun.turn().number()).isEqualTo(1);
    }

    @Test
    void cancelledThread_isOpenAgainAndContinues() {
        ConversationScript story = ConversationScript.replied(use("tu_1", "add"))
                .with(new ToolFact.ToolDispatched("tu_1", 1), new ThreadFact.CancelRequested());

        Conversation begun = Rules.resume(story.state(), ONWARD, LATER);

        assertThat(begun.life()).isEqualTo(ThreadIdentity.Life.OPEN);
        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.CallModel(2));
        assertThat(call(begun, "tu_1").result()).contains("Cancelled with its thread.");
    }

    @Test
    void completedThread_withAMessage_hasANewTurn() {
        ConversationScript story = ConversationScript.replied(text("Done."));

        Conversation begun = Rules.resume(story.state(), answering("And now?"), LATER);

        assertThat(begun.turn().number()).isEqualTo(2);
        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.CallModel(2));
    }

    @Test
    void completedThread_withoutAMessage_isUnchanged() {
        ConversationScript story = ConversationScript.replied(text("Done."));

        Conversation begun = Rules.resume(story.state(), ONWARD, LATER);

        assertThat(begun.turn()).isEqualTo(story.state().turn());
        assertThat(Rules.nextSteps(begun)).isEmpty();
    }

    @Test
    void anotherAgent_isResolvedFirst_andItsMissingToolsAreNotFound() {
        Resumption other =
                new Resumption("r", Optional.of("other"), Optional.empty(), Optional.empty(), false, Optional.empty());
        Conversation begun = Rules.resume(charged(EFFECT).state(), other, LATER);

        assertThat(Rules.nextSteps(begun)).containsExactly(new Step.ResolveAgent("other"));
        Conversation resolved = Rules.apply(
                Rules.apply(begun, new ThreadFact.AgentRequested(), LATER),
                new ThreadFact.AgentResolved(new AgentPolicy("other", 4, Map.of())),
                LATER);
        assertThat(call(resolved, "tu_1").result()).contains("Tool \"charge\" not found. Available tools: none");
        assertThat(Rules.nextSteps(resolved)).containsExactly(new Step.CallModel(2));
    }

    @Test
    void answer_ifOnlyAnApprovalIsOpen_isRefused() {
        AgentPolicy.ToolPolicy approved =
                new AgentPolicy.ToolPolicy(true, true, false, false, false, 60_000, false, false);
        ConversationScript story = ConversationScript.of(charging(approved))
                .with(said("Charge"), new ModelFact.ModelCalled(1), reply(1, use("tu_1", "charge")));

        assertThat(answering("yes").refusal(story.state()).map(Problem::type)).contains(ProblemType.NOT_FOUND);
        assertThat(Rules.resume(story.state(), ONWARD, LATER).waitingCalls()).isEqualTo(List.of(story.call("tu_1")));
    }
}
