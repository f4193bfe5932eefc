package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.answered;
import static dev.waymark.conversation.rule.ConversationScript.ask;
import static dev.waymark.conversation.rule.ConversationScript.finished;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Delegation;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SubagentFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SubagentRulesTest {
    private static final Instant LATER = ConversationScript.START.plusSeconds(3_600);
    private static final Optional<String> NONE = Optional.empty();

    private static AgentPolicy policy() {
        Map<String, AgentPolicy.Executor> tools =
                new LinkedHashMap<>(ConversationScript.policy(4).tools());
        tools.put("scout", AgentPolicy.Executor.SUBAGENT);
        return new AgentPolicy("helper", 4, tools);
    }

    private static Part.ToolUse task(String id, Object task) {
        return new Part.ToolUse(id, "scout", Json.of(Map.of("task", task)));
    }

    private static ConversationScript replied(AgentPolicy policy, Optional<Parent> parent, Part... parts) {
        return ConversationScript.begun(new ThreadFact.RunStarted(
                        ThreadIdentity.RULES,
                        "helper",
                        false,
                        Optional.empty(),
                        Optional.empty(),
                        parent,
                        Optional.empty()))
                .with(new ThreadFact.AgentRequested(), new ThreadFact.AgentResolved(policy))
                .with(said("Go"), new ModelFact.ModelCalled(1), reply(1, parts));
    }

    /** A thread whose call tu_1 is delegated to a subagent. */
    private static ConversationScript delegated(Part... others) {
        Part[] parts = new Part[others.length + 1];
        parts[0] = task("tu_1", "look");
        System.arraycopy(others, 0, parts, 1, others.length);
        return replied(policy(), Optional.empty(), parts)
                .with(new SubagentFact.SubagentStarted("tu_1", Optional.empty()));
    }

    private static PendingItem question(String id) {
        return Call.issued(task(id, "ask_user"), 1, ConversationScript.START)
                .asking("Day?", ConversationScript.START)
                .request(Optional.empty());
    }

    private static PendingItem approval(String id) {
        return Call.issued(new Part.ToolUse(id, "charge", Json.of(Map.of("cents", 5))), 1, ConversationScript.START)
                .awaiting(Optional.empty(), ConversationScript.START)
                .request(Optional.empty());
    }

    private static Fact reported(boolean waiting, long tokens, PendingItem... asks) {
        return new SubagentFact.SubagentReported("tu_1", new SubagentProgress(waiting, List.of(asks), spent(tokens)));
    }

    private static Spent spent(long tokens) {
        return new Spent(new Usage(tokens, 0), Optional.of(Usd.of(BigDecimal.valueOf(tokens, 3))));
    }

    private static Fact ended(String status, String text, long tokens) {
        return new SubagentFact.SubagentFinished("tu_1", status, text, Optional.empty(), Optional.of(spent(tokens)));
    }

    private static List<String> asks(ConversationScript story) {
        return story.state().asks().stream().map(PendingItem::callId).toList();
    }

    @Test
    void callsOfSubagents_areStartedTogetherWithEqualShares() {
        Budget budget = new Budget(Optional.of(Usd.of(BigDecimal.ONE)), Optional.of(1_015L));
        ConversationScript story =
                replied(policy().withBudget(budget), Optional.empty(), task("tu_1", "a"), task("tu_2", "b"));

        Optional<Budget> half = Optional.of(new Budget(Optional.of(Usd.of(new BigDecimal("0.5"))), Optional.of(500L)));
        assertThat(story.decides())
                .containsExactly(
                        new Step.StartSubagent(story.call("tu_1"), half),
                        new Step.StartSubagent(story.call("tu_2"), half));
        story.with(new SubagentFact.SubagentStarted("tu_1", half), reported(true, 100, question("tu_9")));
        Optional<Budget> rest = Optional.of(new Budget(Optional.of(Usd.of(new BigDecimal("0.5"))), Optional.of(500L)));
        assertThat(story.decides()).containsExactly(new Step.StartSubagent(story.call("tu_2"), rest));
        story.with(ended("complete", "found", 100));
        Optional<Budget> all = Optional.of(new Budget(Optional.of(Usd.of(new BigDecimal("0.9"))), Optional.of(900L)));
        assertThat(story.decides()).containsExactly(new Step.StartSubagent(story.call("tu_2"), all));
    }

    @Test
    void budget_limitsTheSubagentsThread() {
        Budget granted = new Budget(Optional.empty(), Optional.of(10L));
        ConversationScript story = replied(
                policy().withBudget(new Budget(Optional.empty(), Optional.of(1_000L))),
                Optional.of(new Parent("tu_0", 1, Optional.of(granted))),
                use("tu_1", "missing"));

        assertThat(story.state().limits()).isEqualTo(granted);
        assertThat(story.status()).isEqualTo(Turn.Status.BUDGET);
    }

    @Test
    void tasks_invalidOrTooDeep_areErrors() {
        ConversationScript story = replied(
                policy(),
                Optional.of(new Parent("tu_0", Conversation.MAX_DEPTH, Optional.empty())),
                use("tu_1", "scout"),
                task("tu_2", " "),
                task("a/b", "look"),
                task("tu_3", "look"));

        assertThat(story.state().batchCalls())
                .extracting(call -> call.result().orElse(""))
                .satisfiesExactly(
                        text -> assertThat(text).contains("\"task\" is required"),
                        text -> assertThat(text).contains("\"task\" is required"),
                        text -> assertThat(text).contains("slash"),
                        text -> assertThat(text).contains("5 threads above"));
    }

    @Test
    void questionOfASubagent_interruptsIfNothingElseRuns() {
        ConversationScript story = delegated(use("tu_2", "add"))
                .with(new ToolFact.ToolDispatched("tu_2", 1), reported(true, 7, question("tu_9")));
        assertThat(story.state().isInterrupted()).isFalse();
        assertThat(asks(story)).containsExactly("tu_1/tu_9");

        story.with(finished("tu_2", "3"));

        assertThat(story.state().isInterrupted()).isTrue();
        assertThat(story.state().isBetweenSteps()).isFalse();
        assertThat(story.state().usage()).isEqualTo(new Usage(17, 5));
    }

    @Test
    void answer_isPassedOnAndNotRequestedAgain() {
        ConversationScript story = delegated().with(reported(true, 7, question("tu_9"), question("tu_8")));
        assertThat(story.refusal(answered("Friday"))).contains(ProblemType.CALL_REQUIRED);

        story.with(answered("tu_1/tu_9", "Friday"));

        Json body = Json.of(Map.of("callId", "tu_9", "answer", "Friday", "via", "tu_1"));
        Delegation.Decision decision = new Delegation.Decision("answer", body);
        assertThat(story.decides()).containsExactly(new Step.PassOn("tu_1", decision));
        assertThat(asks(story)).containsExactly("tu_1/tu_8");
        assertThat(story.state().isInterrupted()).isFalse();
        assertThat(story.refusal(answered("tu_1/tu_9", "Sunday"))).contains(ProblemType.ALREADY_DECIDED);
        story.with(new SubagentFact.DecisionPassedOn("tu_1"), reported(true, 7, question("tu_9"), question("tu_8")));
        assertThat(story.decides()).isEmpty();
        assertThat(asks(story)).containsExactly("tu_1/tu_8");
        story.with(reported(true, 8, question("tu_8")));
        assertThat(story.state().isInterrupted()).isTrue();
        assertThat(story.refusal(answered("tu_1/tu_9", "Sunday"))).contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void approval_isBoundToTheShownArguments() {
        PendingItem shown = approval("tu_9");
        ConversationScript story = delegated().with(reported(true, 7, shown));
        PersonFact.ApprovalDecided stale = new PersonFact.ApprovalDecided(
                true, NONE, Optional.of("tu_1/tu_9"), Optional.empty(), Optional.of("d2"), NONE, NONE);
        assertThat(story.refusal(stale)).contains(ProblemType.ARGS_CHANGED);

        story.with(new PersonFact.ApprovalDecided(true, NONE, NONE, Optional.empty(), NONE, Optional.of("ann"), NONE));

        Json body = Json.of(
                Map.of("callId", "tu_9", "argsDigest", shown.argsDigest().orElseThrow(), "by", "ann", "via", "tu_1"));
        assertThat(story.decides()).containsExactly(new Step.PassOn("tu_1", new Delegation.Decision("approve", body)));
    }

    @Test
    void report_isShortenedToFit_andADecisionStaysMade() {
        Part[] two = {ask("tu_8", "x".repeat(SubagentProgress.MAX_LENGTH)), ask("tu_9", "Day?")};
        ConversationScript below = replied(policy(), Optional.of(new Parent("tu_1", 1, Optional.empty())), two);
        SubagentProgress both = below.state().progress();
        SubagentProgress one = below.with(answered("tu_9", "Friday")).state().progress();
        assertThat(both.asks().get(0).question().map(String::length)).contains(SubagentProgress.MAX_LENGTH / 2);
        assertThat(one.asks().get(0).question().map(String::length)).contains(SubagentProgress.MAX_LENGTH);

        ConversationScript above =
                delegated().with(new SubagentFact.SubagentReported("tu_1", both), answered("tu_1/tu_8", "Yes"));
        above.with(new SubagentFact.SubagentReported("tu_1", one));

        assertThat(asks(above)).isEmpty();
    }

    @Test
    void budgetOfASubagent_cannotBeRaisedAboveItsReservation() {
        Optional<Parent> parent =
                Optional.of(new Parent("tu_0", 1, Optional.of(new Budget(Optional.empty(), Optional.of(100L)))));
        ConversationScript story = replied(
                policy().withBudget(new Budget(Optional.empty(), Optional.of(50L))), parent, ask("tu_1", "Day?"));

        assertThat(story.refusal(raised(101))).contains(ProblemType.BAD_INPUT);
        assertThat(story.with(raised(100)).state().limits().tokens()).contains(100L);
    }

    private static PersonFact.BudgetRaised raised(long tokens) {
        return new PersonFact.BudgetRaised(Optional.empty(), new Budget(Optional.empty(), Optional.of(tokens)), NONE);
    }

    @Test
    void incompleteSubagent_isAnErrorAndItsSpendingCounts() {
        ConversationScript story = delegated().with(reported(false, 7), ended("budget", "so far", 20));

        assertThat(story.call("tu_1").status()).isEqualTo(Call.Status.FAILED);
        assertThat(story.call("tu_1").result()).contains("Tool error: the subagent scout ended as budget\nso far");
        assertThat(story.state().spent())
                .isEqualTo(new Spent(new Usage(30, 5), Optional.of(Usd.of(new BigDecimal("0.02")))));
        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.refusal((Fact.Inbound) reported(true, 9))).contains(ProblemType.NOT_FOUND);
    }

    @Test
    void stop_spendingOfTheSubagentMeanwhile_stillCounts() {
        ConversationScript story = delegated().with(reported(true, 7, question("tu_9")), new PersonFact.Stopped(NONE));
        assertThat(story.call("tu_1").status()).isEqualTo(Call.Status.CANCELLED);
        assertThat(asks(story)).isEmpty();

        story.with(
                reported(false, 12),
                new SubagentFact.SubagentFinished("tu_1", "cancelled", "", Optional.empty(), Optional.empty()));

        assertThat(story.state().usage()).isEqualTo(new Usage(22, 5));
        assertThat(story.state().turn().usage()).isEqualTo(new Usage(22, 5));
        assertThat(story.status()).isEqualTo(Turn.Status.STOPPED);
        assertThat(story.state().ignored().count()).isZero();
    }

    @Test
    void subagentThread_existsAlready_makesTheCallLost() {
        ConversationScript story = delegated().with(new SubagentFact.SubagentNotStarted("tu_1", true, "there is one"));

        assertThat(story.call("tu_1").status()).isEqualTo(Call.Status.LOST);
        assertThat(story.call("tu_1").result().map(ToolTexts::isDurability)).contains(true);
    }

    @Test
    void openSubagentCall_resumedOrForked_isNotStartedAgain() {
        ConversationScript story = delegated(ask("tu_2", "Day?")).with(reported(true, 7, question("tu_9")));

        Conversation resumed =
                Rules.resume(story.state(), new Resumption("r", NONE, NONE, Optional.empty(), false, NONE), LATER);
        Conversation forked = Rules.fork(story.state(), new ForkRequest("f", Optional.empty()), LATER);

        for (Conversation begun : List.of(resumed, forked)) {
            assertThat(begun.calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.LOST);
            assertThat(begun.calls().get("tu_2").orElseThrow().status()).isEqualTo(Call.Status.ASKING);
            assertThat(Rules.nextSteps(begun)).isEmpty();
        }
    }

    @Test
    void resumption_withAnAnswerToASubagent_isRefused() {
        ConversationScript story = delegated().with(reported(true, 7, question("tu_9")));
        Resumption answering = new Resumption("r", NONE, Optional.of("Friday"), Optional.empty(), false, NONE);

        assertThat(answering.refusal(story.state()).map(Problem::message))
                .contains("no question is open: the subagent's question ended with its thread");
    }

    @Test
    void subagent_reportsItsRequestsOnlyWhenTheyChange() {
        Parent parent = new Parent("tu_0", 1, Optional.empty());
        ConversationScript story = replied(policy(), Optional.of(parent), ask("tu_9", "Day?"));
        SubagentProgress report =
                new SubagentProgress(true, story.state().asks(), story.state().spent());
        assertThat(story.decides()).containsExactly(new Step.ReportToParent(parent, report));

        story.with(new SubagentFact.ParentTold(report));
        assertThat(story.decides()).isEmpty();

        story.with(answered("Friday"));
        SubagentProgress answered =
                new SubagentProgress(false, List.of(), story.state().spent());
        assertThat(story.decides()).containsExactly(new Step.ReportToParent(parent, answered), new Step.CallModel(2));
    }
}
