package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.approved;
import static dev.waymark.conversation.rule.ToolConversationScript.decided;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CallVerdictTest {
    private static final Json OTHER = Json.of(Map.of("n", 1));
    private static final CallVerdict ALLOW = CallVerdict.allow("small");
    private static final CallVerdict ASK = CallVerdict.ask("large");
    private static final CallVerdict DENY = CallVerdict.deny("too large");

    /** The tools of other tests, some of them with rules. */
    private static AgentPolicy ruled() {
        AgentPolicy plain = ToolConversationScript.policy(Optional.empty());
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>(plain.policies());
        policies.put("fire", new AgentPolicy.ToolPolicy(true, true, false, false, false, 60_000, false, false, true));
        policies.put("mail", new AgentPolicy.ToolPolicy(true, true, false, false, true, 60_000, true, false, true));
        policies.put("add", new AgentPolicy.ToolPolicy(false, true, false, false, false, 0, false, false, true));
        policies.put("write_file", new AgentPolicy.ToolPolicy(false, true, false, false, false, 0, false, false, true));
        return new AgentPolicy("helper", 9, plain.tools(), policies, Optional.empty());
    }

    private static ConversationScript begun() {
        return ConversationScript.of(ruled()).with(said("Hello"), new ModelFact.ModelCalled(1));
    }

    private static ConversationScript replied(List<Part.ToolUse> uses, CallVerdict... verdicts) {
        List<Reply.Judged> judged = new ArrayList<>();
        for (int i = 0; i < verdicts.length; i++) {
            judged.add(new Reply.Judged(i, verdicts[i]));
        }
        Reply reply = Reply.of(uses.toArray(Part[]::new)).withVerdicts(judged);
        return begun().with(new ModelFact.ModelReplied(1, reply));
    }

    private static ConversationScript replied(Part.ToolUse use, CallVerdict... verdicts) {
        return replied(List.of(use), verdicts);
    }

    private static ConversationScript edited() {
        return replied(use("a", "fire"), ASK).with(decided(true, Optional.of("a"), Optional.of(OTHER), NONE, NONE));
    }

    private static ToolFact.VerdictRequested requested(String callId) {
        return new ToolFact.VerdictRequested(callId);
    }

    private static ToolFact.VerdictGiven given(String callId, CallVerdict verdict) {
        return new ToolFact.VerdictGiven(callId, verdict);
    }

    @Test
    void allowedCall_runsWithoutARequest() {
        ConversationScript story = replied(use("a", "fire"), ALLOW);

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
        assertThat(story.call("a").verdict()).contains(ALLOW);
        assertThat(story.state().asks()).isEmpty();
    }

    @Test
    void deniedCall_neverRuns_andTheModelGetsTheReason() {
        ConversationScript story = replied(use("a", "fire"), DENY);

        assertThat(story.decides()).containsExactly(new Step.CallModel(2));
        assertThat(story.call("a").status()).isEqualTo(Call.Status.DENIED);
        assertThat(story.call("a").result())
                .contains("Tool execution denied by the agent's rules. The fire tool was not executed."
                        + " Reason: too large");
    }

    @Test
    void askedCall_waits_andTheRequestContainsTheReason() {
        ConversationScript story = replied(use("a", "fire"), ASK);

        PendingItem ask = story.state().asks().get(0);
        assertThat(ask.kind()).isEqualTo(PendingItem.Kind.APPROVAL);
        assertThat(ask.verdict()).contains(ASK);
        assertThat(ask.words()).isEqualTo("May fire {} run? It asks by the rules: large.");
        assertThat(story.with(approved("a")).decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
    }

    /** The request has another reason, for example that only a file contains the call. */
    @Test
    void allowedCall_requestedForAnotherReason_doesNotNameTheRules() {
        Call call = Call.issued(use("a", "fire"), 1, ConversationScript.START)
                .judged(ALLOW)
                .awaiting(Optional.empty(), ConversationScript.START);

        PendingItem ask = call.request(Optional.of(ruled()));

        assertThat(ask.verdict()).isEmpty();
        assertThat(ask.words()).isEqualTo("May fire {} run?");
    }

    @Test
    void callWithoutAVerdict_isJudgedBeforeTheRequest() {
        ConversationScript story = replied(use("a", "fire"));

        assertThat(story.decides()).containsExactly(new Step.Judge(story.call("a")));
        assertThat(story.state().asks()).isEmpty();
        story.with(requested("a"));
        assertThat(story.decides()).isEmpty();
        assertThat(story.state().isBetweenSteps()).isFalse();
        assertThat(story.with(given("a", ALLOW)).decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
    }

    @Test
    void separateVerdict_thatAsksOrDenies_isApplied() {
        assertThat(replied(use("a", "fire"))
                        .with(requested("a"), given("a", ASK))
                        .call("a")
                        .status())
                .isEqualTo(Call.Status.AWAITING);
        assertThat(replied(use("a", "fire"))
                        .with(requested("a"), given("a", DENY))
                        .call("a")
                        .status())
                .isEqualTo(Call.Status.DENIED);
    }

    @Test
    void separateVerdict_thatEndsTheLastCall_completesAVersion() {
        int withTheReply = replied(use("a", "fire"), DENY).state().counters().versions();
        ConversationScript apart = replied(use("a", "fire")).with(requested("a"), given("a", DENY));

        assertThat(apart.state().counters().versions()).isEqualTo(withTheReply);
    }

    @Test
    void verdict_isNotRequestedForAnEndedCall() {
        ConversationScript story = replied(use("a", "fire"), DENY).with(requested("a"), given("a", ALLOW));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.DENIED);
        assertThat(story.call("a").verdict()).contains(DENY);
    }

    @Test
    void editedCall_isJudgedAgain() {
        ConversationScript story = edited();

        assertThat(story.call("a").verdict()).isEmpty();
        assertThat(story.decides()).containsExactly(new Step.Judge(story.call("a")));
    }

    @Test
    void editedCall_thatTheRulesAllowOrAsk_runs() {
        for (CallVerdict verdict : List.of(ALLOW, ASK)) {
            ConversationScript story = edited().with(requested("a"), given("a", verdict));

            assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
            assertThat(story.call("a").args()).isEqualTo(OTHER);
            assertThat(story.call("a").verdict()).contains(verdict);
        }
    }

    @Test
    void editedCall_thatTheRulesDeny_isDenied_andNamesTheApproval() {
        ConversationScript story = edited().with(requested("a"), given("a", DENY));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.DENIED);
        assertThat(story.call("a").approval().orElseThrow().approved()).isTrue();
        assertThat(story.call("a").result().orElseThrow())
                .contains("A person had approved it, but the rules come first.")
                .endsWith("Reason: too large");
    }

    @Test
    void verdictFailed_asksAPerson() {
        ConversationScript story = replied(use("a", "fire"))
                .with(requested("a"), new ToolFact.VerdictFailed("a", new Problem("Timeout", "no worker answered")));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.state().asks().get(0).words()).contains("the rules could not be asked: no worker answered");
    }

    @Test
    void verdictLeftByOldWorkers_isRequestedAgain() {
        ConversationScript story = replied(use("a", "fire"))
                .with(
                        requested("a"),
                        new ToolFact.VerdictFailed("a", new Problem(ProblemType.UNKNOWN_RULES, "knows rules 11")));

        assertThat(story.decides()).containsExactly(new Step.Judge(story.call("a")));
    }

    @Test
    void toolWithoutRules_needsApproval_withAnyVerdict() {
        ConversationScript story = replied(use("a", "drop"), ALLOW);

        assertThat(story.call("a").status()).isEqualTo(Call.Status.AWAITING);
    }

    @Test
    void stateTool_runsOnlyIfTheRulesAllowIt() {
        Part.ToolUse write = new Part.ToolUse("a", "write_file", Json.of(Map.of("path", "x", "content", "1")));

        assertThat(replied(write, DENY).state().workspace().files().size()).isZero();
        ConversationScript later = replied(write);
        assertThat(later.state().workspace().files().size()).isZero();
        later.with(requested("a"), given("a", ALLOW));
        assertThat(later.state().workspace().files().size()).isEqualTo(1);
    }

    @Test
    void identicalCalls_eachHaveAVerdict() {
        ConversationScript story = replied(List.of(use("a", "fire"), use("b", "fire")), ALLOW, DENY);
        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 1));

        story.with(
                ToolConversationScript.dispatched("a", 1),
                ToolConversationScript.claimed("a", 1, "fire", "x"),
                ToolConversationScript.finished("a", 1, "done"));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.DENIED);
    }

    @Test
    void stoppedTurn_ignoresALateVerdict() {
        ConversationScript story =
                replied(use("a", "fire")).with(requested("a"), new PersonFact.Stopped(NONE), given("a", ALLOW));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.CANCELLED);
        assertThat(story.call("a").verdict()).isEmpty();
    }

    @Test
    void restoredClaim_whileACallIsJudged_isResolvedFirst() {
        ConversationScript story = replied(use("a", "mail"))
                .with(requested("a"), ToolConversationScript.restored("a", 1, "mail", "old"), given("a", ALLOW));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.UNSETTLED);
    }

    @Test
    void deniedCall_settledAsRerun_staysDenied() {
        ConversationScript story = replied(List.of(use("a", "mail"), use("b", "mail")), ALLOW, DENY)
                .with(ToolConversationScript.restored("b", 1, "mail", "old"))
                .with(ToolConversationScript.settled("b", CallSettlement.Outcome.RERUN));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.DENIED);
    }

    @Test
    void requests_areCountedInCallOrder_withAnyOutcome() {
        ConversationScript story =
                replied(List.of(use("z", "fire"), use("a", "fire"), use("m", "add")), DENY, ASK, ALLOW);

        assertThat(story.state().requests(story.call("z"))).isEqualTo(1);
        assertThat(story.state().requests(story.call("a"))).isEqualTo(2);
        assertThat(story.state().requests("fire")).isEqualTo(2);
        assertThat(story.state().requests("add")).isEqualTo(1);
    }

    @Test
    void thread_resumedWithAnotherAgent_asksItsRules() {
        Conversation over = replied(use("a", "fire"), ASK)
                .with(new PersonFact.CloseRequested(NONE))
                .state();
        Conversation next = Rules.start(
                new ThreadFact.RunStarted(ThreadIdentity.RULES, "helper", false, Optional.empty()),
                ConversationScript.START);
        assertThat(next.hasRules()).isFalse();
        assertThat(over.calls().get("a").orElseThrow().verdict()).contains(ASK);
    }

    /** The transcript's digest does not cover verdicts, so a model call records them with people's decisions. */
    @Test
    void modelCall_recordsTheVerdictsBeforeIt() {
        Conversation small = replied(use("a", "add"), DENY)
                .with(new ModelFact.ModelCalled(2))
                .state();
        Conversation other = replied(use("a", "add"), CallVerdict.deny("too large"))
                .with(new ModelFact.ModelCalled(2))
                .state();
        Conversation forged = replied(
                        use("a", "add"),
                        new CallVerdict(
                                CallVerdict.Then.DENY, Optional.of(3), Optional.of("too large"), Optional.empty()))
                .with(new ModelFact.ModelCalled(2))
                .state();

        assertThat(ModelInput.of(small).hasDecisionsOf(other)).isTrue();
        assertThat(ModelInput.of(small).hasDecisionsOf(forged)).isFalse();
    }

    @Test
    void modelInput_asksForVerdicts_onlyForAnAgentWithRules() {
        assertThat(asks(begun().state())).isTrue();
        assertThat(asks(ToolConversationScript.begun(Optional.empty())
                        .with(said("Hello"), new ModelFact.ModelCalled(1))
                        .state()))
                .isFalse();
    }

    private static boolean asks(Conversation called) {
        return ModelInput.of(called, AgentSpec.of("helper", "scripted:any"), Optional.of("ann"))
                .verdicts()
                .isPresent();
    }
}
