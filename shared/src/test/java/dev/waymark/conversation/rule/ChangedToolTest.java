package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.approved;
import static dev.waymark.conversation.rule.ToolConversationScript.claimed;
import static dev.waymark.conversation.rule.ToolConversationScript.decided;
import static dev.waymark.conversation.rule.ToolConversationScript.dispatched;
import static dev.waymark.conversation.rule.ToolConversationScript.endedLate;
import static dev.waymark.conversation.rule.ToolConversationScript.finished;
import static dev.waymark.conversation.rule.ToolConversationScript.restored;
import static dev.waymark.conversation.rule.ToolConversationScript.settled;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.ToolDefinition;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Calls of a tool that is defined outside of the thread, and may change between its approval and its run. */
class ChangedToolTest {
    private static ConversationScript called() {
        AgentPolicy plain = ToolConversationScript.policy(Optional.empty());
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>(plain.policies());
        for (String tool : List.of("fire", "drop")) {
            policies.put(tool, plain.policyOf(tool).changing());
        }
        return ConversationScript.of(new AgentPolicy("helper", 9, plain.tools(), policies, Optional.empty()))
                .with(said("Hello"), new ModelFact.ModelCalled(1));
    }

    private static CallVerdict about(String definition) {
        return CallVerdict.ask("approval: always").about(Optional.of(definition));
    }

    private static ToolFact.VerdictGiven given(String callId, String definition) {
        return new ToolFact.VerdictGiven(callId, about(definition));
    }

    /** A thread in which the call a asks, with the first definition of its tool. */
    private static ConversationScript asked() {
        return called().with(new ModelFact.ModelReplied(
                1, Reply.of(use("a", "fire")).withVerdicts(List.of(new Reply.Judged(0, about("first"))))));
    }

    private static ToolFact.ToolNotStarted changed(String callId, int dispatch, String definition) {
        return new ToolFact.ToolNotStarted(
                callId, dispatch, "x" + dispatch, "its definition has changed", Optional.of(definition));
    }

    private static List<String> approvedDefinitions(ConversationScript story, String callId) {
        return story.state().approvedDefinitions(story.call(callId));
    }

    @Test
    void request_recordsTheDefinition_andTheCallRunsOnlyWithIt() {
        ConversationScript story = asked();
        assertThat(story.state().asks().get(0).toolDigest()).contains("first");
        assertThat(approvedDefinitions(story, "a")).isEmpty();

        assertThat(approvedDefinitions(story.with(approved("a")), "a")).containsExactly("first");
        assertThat(story.call("a").verdict().orElseThrow().definition()).isEmpty();
    }

    @Test
    void definition_missingInTheReply_isFetchedBeforeTheRequest() {
        ConversationScript story = called().with(reply(1, use("a", "fire")));
        assertThat(story.state().asks()).isEmpty();
        assertThat(story.decides()).containsExactly(new Step.Judge(story.call("a")));

        story.with(new ToolFact.VerdictRequested("a"), given("a", "first"));

        assertThat(story.state().asks().get(0).toolDigest()).contains("first");
        assertThat(story.state().asks().get(0).verdict()).isEmpty();
    }

    @Test
    void definition_undetermined_isUnknown_andStillRequestsApproval() {
        ConversationScript story = called().with(reply(1, use("a", "fire")))
                .with(
                        new ToolFact.VerdictRequested("a"),
                        new ToolFact.VerdictFailed("a", new Problem("Timeout", "no worker")));

        assertThat(story.state().asks().get(0).toolDigest()).contains(ToolDefinition.UNKNOWN);
        assertThat(approvedDefinitions(story.with(approved("a")), "a")).containsExactly(ToolDefinition.UNKNOWN);
    }

    @Test
    void changedTool_asksAgain_withTheNewDefinition_butNotForever() {
        ConversationScript story = asked().with(approved("a"), dispatched("a", 1), claimed("a", 1, "fire", "x1"));
        story.with(changed("a", 1, "second"));

        PendingItem ask = story.state().asks().get(0);
        assertThat(ask.toolDigest()).contains("second");
        assertThat(ask.toolChanged()).isTrue();
        assertThat(ask.words()).contains("It was approved before, but did not run: fire has changed since.");
        assertThat(story.call("a").claim()).isEmpty();
        assertThat(story.call("a").approval()).isEmpty();

        assertThat(approvedDefinitions(story.with(approved("a")), "a")).containsExactly("first", "second");
        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 2));
    }

    /** Somebody decides about the request that was shown to them before the tool changed. */
    @Test
    void decision_aboutTheEarlierRequest_isRefused() {
        ConversationScript story = asked();
        Optional<String> before = story.state().asks().get(0).argsDigest();
        story.with(approved("a"), dispatched("a", 1), changed("a", 1, "second"));

        assertThat(Rules.refusal(story.state(), decided(true, Optional.of("a"), Optional.empty(), before, NONE)))
                .hasValueSatisfying(problem -> {
                    assertThat(problem.type()).isEqualTo(ProblemType.ARGS_CHANGED);
                    assertThat(problem.message()).contains("or another tool");
                });
        PendingItem ask = story.state().asks().get(0);
        assertThat(ask.hasCutArgs()).isFalse();
        assertThat(story.refusal(decided(true, Optional.of("a"), Optional.empty(), ask.argsDigest(), NONE)))
                .isEmpty();
    }

    /** A reset has undone the approval and the definition that it was about, but restored the claim. */
    @Test
    void rerun_withoutADefinition_isJudgedBeforeANewRequest() {
        ConversationScript story = called().with(reply(1, use("a", "drop")))
                .with(restored("a", 1, "drop", "x1"), settled("a", CallSettlement.Outcome.RERUN));
        assertThat(story.state().asks()).isEmpty();
        assertThat(story.decides()).containsExactly(new Step.Judge(story.call("a")));

        story.with(new ToolFact.VerdictRequested("a"), given("a", "second"));

        assertThat(story.state().asks().get(0).toolDigest()).contains("second");
    }

    @Test
    void lateReportOfAChange_isApplied() {
        ConversationScript story = asked().with(approved("a"), dispatched("a", 1), claimed("a", 1, "fire", "x1"))
                .with(new ToolFact.ToolLost("a", 1, new Problem("Timeout", "the worker was lost")))
                .with(endedLate("a", "x1", changed("a", 1, "second")));

        assertThat(story.call("a").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.state().asks().get(0).toolDigest()).contains("second");
    }

    @Test
    void editedCall_runsOnlyWithTheDefinitionOfItsRequest() {
        ConversationScript story =
                asked().with(decided(true, Optional.of("a"), Optional.of(Json.of(Map.of("n", 1))), NONE, NONE));

        assertThat(approvedDefinitions(story, "a")).containsExactly("first");
        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("a"), 1));
    }

    private static ConversationScript granted() {
        return asked().with(approved("a").granting(GrantTerms.THREAD))
                .with(dispatched("a", 1), claimed("a", 1, "fire", "x1"), finished("a", 1, "done"))
                .with(new ModelFact.ModelCalled(2));
    }

    private static ConversationScript granted(String definition) {
        return granted()
                .with(new ModelFact.ModelReplied(
                        2, Reply.of(use("b", "fire")).withVerdicts(List.of(new Reply.Judged(0, about(definition))))));
    }

    @Test
    void callOfAGrant_runsOnlyWithTheDefinitionOfTheGrant() {
        ConversationScript story = granted("first");

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 1));
        assertThat(approvedDefinitions(story, "b")).containsExactly("first");
    }

    @Test
    void grant_ends_ifTheToolChangedBeforeTheCall() {
        ConversationScript story = granted("second");

        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
        Grant grant = story.state().grants().find(1).orElseThrow();
        assertThat(grant.ended().orElseThrow().reason()).isEqualTo(Grant.Reason.TOOL_CHANGED);
        assertThat(grant.used()).isZero();
    }

    @Test
    void grant_ends_ifTheToolChangesBeforeTheCallRuns() {
        ConversationScript story =
                granted("first").with(dispatched("b", 1), claimed("b", 1, "fire", "x1"), changed("b", 1, "second"));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.state().asks().get(0).toolChanged()).isTrue();
        assertThat(story.state().grants().find(1).orElseThrow().ended()).isPresent();
    }

    @Test
    void grantOfTheApprovalItself_ends_ifTheToolChangesBeforeTheCallRuns() {
        ConversationScript story = asked().with(approved("a").granting(GrantTerms.THREAD))
                .with(dispatched("a", 1), claimed("a", 1, "fire", "x1"), changed("a", 1, "second"));

        assertThat(story.state()
                        .grants()
                        .find(1)
                        .orElseThrow()
                        .ended()
                        .orElseThrow()
                        .reason())
                .isEqualTo(Grant.Reason.TOOL_CHANGED);
    }

    @Test
    void grant_withAnUndeterminedDefinition_isKept_butTheCallAsks() {
        ConversationScript story = granted()
                .with(reply(2, use("b", "fire")))
                .with(
                        new ToolFact.VerdictRequested("b"),
                        new ToolFact.VerdictFailed("b", new Problem("Timeout", "no worker")));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.state().grants().find(1).orElseThrow().ended()).isEmpty();
    }
}
