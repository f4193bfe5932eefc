package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.START;
import static dev.waymark.conversation.rule.ConversationScript.answered;
import static dev.waymark.conversation.rule.ConversationScript.reply;
import static dev.waymark.conversation.rule.ConversationScript.said;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static dev.waymark.conversation.rule.ToolConversationScript.approved;
import static dev.waymark.conversation.rule.ToolConversationScript.claimed;
import static dev.waymark.conversation.rule.ToolConversationScript.decided;
import static dev.waymark.conversation.rule.ToolConversationScript.denied;
import static dev.waymark.conversation.rule.ToolConversationScript.dispatched;
import static dev.waymark.conversation.rule.ToolConversationScript.finished;
import static dev.waymark.conversation.rule.ToolConversationScript.notStarted;
import static dev.waymark.conversation.rule.ToolConversationScript.restored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.Suspension;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Grants;
import dev.waymark.conversation.value.CallVerdict;
import dev.waymark.conversation.value.GrantTerms;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Approvals that also let later calls run. The tool fire needs approval, and has side effects. */
class GrantTest {
    private static final GrantTerms LIKE = GrantTerms.THREAD.like(Json.of(Map.of("required", List.of("n"))));

    private static final Json FORM = Json.of(Map.of(
            "message",
            "Which day?",
            "requestedSchema",
            Map.of("type", "object", "properties", Map.of("day", Map.of("type", "string")))));

    private static final String OTHER_DIGEST = "ab".repeat(32);

    /** A thread in which the call a was approved with these terms, and has run. */
    private static ConversationScript granted(GrantTerms terms) {
        return ToolConversationScript.replied(use("a", "fire"))
                .with(approved("a").granting(terms))
                .with(dispatched("a", 1), claimed("a", 1, "fire", "x"), finished("a", 1, "done"));
    }

    /** The thread after another reply. */
    private static ConversationScript then(ConversationScript story, Part... calls) {
        int step = story.state().counters().steps() + 1;
        return story.with(new ModelFact.ModelCalled(step), reply(step, calls));
    }

    private static ConversationScript judged(ConversationScript story, String id, CallVerdict verdict) {
        return story.with(new ToolFact.VerdictRequested(id), new ToolFact.VerdictGiven(id, verdict));
    }

    private static CallVerdict matching(int upTo, Integer... grants) {
        return CallVerdict.ask("always").comparedWith(Optional.of(new CallVerdict.Compared(upTo, List.of(grants))));
    }

    private static Grant grant(ConversationScript story, int number) {
        return story.state().grants().find(number).orElseThrow();
    }

    private static PersonFact.GrantRevoked revoked(int number) {
        return PersonFact.GrantRevoked.of(number).withBy("bob");
    }

    @Test
    void laterCall_withTheSameArguments_runs_andNamesItsGrant() {
        ConversationScript story = then(granted(GrantTerms.THREAD), use("b", "fire"));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 1));
        assertThat(story.call("b").grant()).contains(1);
        assertThat(grant(story, 1).used()).isEqualTo(1);
        assertThat(grant(story, 1).by()).contains("ann");
        assertThat(grant(story, 1).callId()).isEqualTo("a");
    }

    /** The reset undid the calls, but not what they did: their claims are applied again. */
    @Test
    void restoredClaims_countAsUses() {
        ConversationScript story = granted(GrantTerms.THREAD.withTimes(2));
        for (String id : List.of("lost-1", "lost-2")) {
            story.with(new ToolFact.ToolClaimed(id, 1, "fire", OTHER_DIGEST, 0, "run-1/" + id, true, Optional.of(1)));
        }

        assertThat(grant(story, 1).used()).isEqualTo(2);
        assertThat(then(story, use("b", "fire")).call("b").status()).isEqualTo(Call.Status.AWAITING);
    }

    @Test
    void restoredClaim_ofAKeptCall_isNotCountedTwice() {
        ConversationScript story = then(granted(GrantTerms.THREAD.withTimes(2)), use("b", "fire"));
        story.with(new ToolFact.ToolClaimed(
                "b", 1, "fire", ToolConversationScript.DIGEST, 0, "run-1/1", true, Optional.of(1)));

        assertThat(grant(story, 1).used()).isEqualTo(1);
    }

    @Test
    void laterCall_withOtherArgumentsOrOfAnotherTool_asks() {
        ConversationScript story = then(granted(GrantTerms.THREAD), use("b", "fire", 7), use("c", "drop"));

        assertThat(story.state().asks()).hasSize(2);
        assertThat(grant(story, 1).used()).isZero();
    }

    @Test
    void laterCall_withAnyArguments_runsWithoutBeingCompared() {
        ConversationScript story =
                then(granted(GrantTerms.THREAD.withAnyArgs().withTimes(2)), use("b", "fire", 7), use("c", "drop"));

        assertThat(story.decides()).contains(new Step.RunTool(story.call("b"), 1));
        assertThat(story.call("b").grant()).contains(1);
        assertThat(story.state().asks()).extracting(PendingItem::callId).containsExactly("c");
        then(
                story.with(dispatched("b", 1), claimed("b", 1, "fire", "x"), finished("b", 1, "done")),
                use("d", "fire", 8));
        assertThat(grant(story, 1).used()).isLessThanOrEqualTo(2);
    }

    @Test
    void terms_unknown_areRefused() {
        for (Map<String, Object> terms : List.<Map<String, Object>>of(
                Map.of("time", 1),
                Map.of("any", true),
                Map.of("anyArgs", "true"),
                Map.of("anyArgs", true, "like", Map.of("required", List.of("n"))))) {
            assertThatThrownBy(() -> GrantTerms.of(Json.of(terms)))
                    .as(terms.toString())
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> GrantTerms.of(Json.of(Map.of("time", 1))))
                .hasMessage("there is no field time, only times, seconds, like, anyArgs");
        GrantTerms any = GrantTerms.THREAD.withAnyArgs().withTimes(2);
        assertThat(GrantTerms.of(Json.of(any.tree()))).isEqualTo(any);
        assertThat(any.words()).isEqualTo("for 2 more calls, with any arguments");
    }

    @Test
    void editedApproval_grantsTheArgumentsThatRan() {
        ConversationScript story = ToolConversationScript.replied(use("a", "fire"))
                .with(decided(true, Optional.of("a"), Optional.of(Json.of(Map.of("n", 7))), NONE, NONE)
                        .granting(GrantTerms.THREAD))
                .with(new PersonFact.Stopped(NONE), said("again"));

        then(story, use("b", "fire", 7), use("c", "fire"));
        assertThat(story.call("b").grant()).contains(1);
        assertThat(story.call("c").status()).isEqualTo(Call.Status.AWAITING);
    }

    @Test
    void parallelCalls_neverExceedAGrant() {
        Part[] five = new Part[5];
        for (int i = 0; i < five.length; i++) {
            five[i] = use("b" + i, "fire", i);
        }
        ConversationScript story = then(granted(LIKE.withTimes(3)), five);
        for (int i = five.length - 1; i >= 0; i--) {
            judged(story, "b" + i, matching(1, 1));
        }

        assertThat(grant(story, 1).used()).isEqualTo(3);
        assertThat(story.state().asks()).hasSize(2);
        assertThat(story.decides()).hasSize(3).allMatch(Step.RunTool.class::isInstance);
    }

    @Test
    void identicalCalls_useAGrantOnceEach() {
        ConversationScript story = then(granted(GrantTerms.THREAD.withTimes(1)), use("b", "fire"), use("c", "fire"));
        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 1));

        story.with(dispatched("b", 1), claimed("b", 1, "fire", "y"), finished("b", 1, "done"));

        assertThat(story.call("c").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(grant(story, 1).used()).isEqualTo(1);
    }

    @Test
    void redispatchedCall_usesItsGrantOnce() {
        ConversationScript story = then(granted(GrantTerms.THREAD.withTimes(1)), use("b", "fire"))
                .with(dispatched("b", 1), notStarted("b", 1, "y"));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 2));
        assertThat(grant(story, 1).used()).isEqualTo(1);
    }

    @Test
    void grantSchema_isComparedInAnActivity_beforeTheCallRunsOrAsks() {
        ConversationScript story = then(granted(LIKE), use("b", "fire", 1), use("c", "fire", 2));
        assertThat(story.decides()).containsExactly(new Step.Judge(story.call("b")), new Step.Judge(story.call("c")));
        assertThat(story.state().asks()).isEmpty();

        judged(story, "b", matching(1, 1));
        judged(story, "c", matching(1));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 1));
        assertThat(story.call("c").status()).isEqualTo(Call.Status.AWAITING);
    }

    @Test
    void grantSchema_comparedWithTheReply_needsNoFurtherActivity() {
        ConversationScript story = granted(LIKE).with(new ModelFact.ModelCalled(2));
        Reply reply = Reply.of(use("b", "fire", 1)).withVerdicts(List.of(new Reply.Judged(0, matching(1, 1))));

        story.with(new ModelFact.ModelReplied(2, reply));

        assertThat(story.decides()).containsExactly(new Step.RunTool(story.call("b"), 1));
    }

    @Test
    void grantSchema_givenWhileACallIsJudged_isComparedNext() {
        ConversationScript story =
                then(granted(LIKE), use("b", "fire", 1), use("d", "drop")).with(new ToolFact.VerdictRequested("b"));
        story.with(approved("d").granting(GrantTerms.THREAD)); // For another tool, so not compared.
        story.with(new ToolFact.VerdictGiven("b", matching(1)));
        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);

        ConversationScript other =
                then(granted(LIKE), use("b", "fire", 1), use("c", "fire", 2)).with(new ToolFact.VerdictRequested("b"));
        judged(other, "c", matching(1)).with(approved("c").granting(LIKE));
        other.with(new ToolFact.VerdictGiven("b", matching(1)));
        assertThat(other.decides()).contains(new Step.Judge(other.call("b")));
        assertThat(judged(other, "b", matching(2, 2)).call("b").grant()).contains(2);
    }

    @Test
    void failedComparison_asks_andIsNotRepeatedForever() {
        ConversationScript story = then(granted(LIKE), use("b", "fire", 1))
                .with(
                        new ToolFact.VerdictRequested("b"),
                        new ToolFact.VerdictFailed("b", new Problem("Timeout", "no worker")));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.decides()).isEmpty();
    }

    @Test
    void denialByTheRules_overridesAGrant() {
        AgentPolicy plain = ToolConversationScript.policy(Optional.empty());
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>(plain.policies());
        policies.put("fire", new AgentPolicy.ToolPolicy(true, true, false, false, false, 60_000, false, false, true));
        AgentPolicy ruled = new AgentPolicy("helper", 9, plain.tools(), policies, Optional.empty());
        CallVerdict ask = CallVerdict.ask("large");
        ConversationScript story = ConversationScript.of(ruled)
                .with(said("Hello"), new ModelFact.ModelCalled(1))
                .with(new ModelFact.ModelReplied(
                        1,
                        Reply.of(use("a", "fire"), use("b", "fire"), use("c", "fire"))
                                .withVerdicts(List.of(
                                        new Reply.Judged(0, ask),
                                        new Reply.Judged(1, CallVerdict.deny("three are too many")),
                                        new Reply.Judged(2, ask)))))
                .with(approved("a").granting(GrantTerms.THREAD))
                .with(dispatched("a", 1), claimed("a", 1, "fire", "x"), finished("a", 1, "done"));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.DENIED);
        assertThat(story.call("c").grant()).contains(1);
    }

    @Test
    void revocation_beforeTheCallStarts_asksAgain_andItsClaimIsRefused() {
        ConversationScript story = then(granted(GrantTerms.THREAD), use("b", "fire"), use("c", "fire", 1))
                .with(dispatched("b", 1), revoked(1));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.call("b").grant()).isEmpty();
        assertThat(story.refusal(claimed("b", 1, "fire", "y"))).contains(ProblemType.ALREADY_DECIDED);
        assertThat(story.with(claimed("b", 1, "fire", "y")).call("b").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(grant(story, 1).ended().orElseThrow().by()).contains("bob");
        assertThat(then(
                                story.with(approved("b"), denied("c"))
                                        .with(
                                                dispatched("b", 2),
                                                claimed("b", 2, "fire", "z"),
                                                finished("b", 2, "done")),
                                use("d", "fire"))
                        .call("d")
                        .status())
                .isEqualTo(Call.Status.AWAITING);
    }

    /** The grant of call b is revoked while its server waits for input, which then comes. */
    private static ConversationScript answeredAfterRevocation() {
        Suspension waiting = Suspension.repeated(Optional.of("state"), Map.of("k", FORM));
        return then(granted(GrantTerms.THREAD), use("b", "fire"))
                .with(
                        dispatched("b", 1),
                        claimed("b", 1, "fire", "y"),
                        new ToolFact.ToolSuspended("b", 1, waiting),
                        revoked(1),
                        answered("b", "Friday"));
    }

    /** The server has started the call, which has not taken effect. */
    @Test
    void revocation_whileTheServerWaitsForInput_asksBeforeTheCallIsRepeated() {
        ConversationScript story = answeredAfterRevocation();
        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.decides()).isEmpty();

        ConversationScript approved = story.with(approved("b"));
        assertThat(approved.call("b").status()).isEqualTo(Call.Status.ISSUED);
        assertThat(approved.call("b").wakeAt()).isEmpty();
        assertThat(approved.call("b").suspension().flatMap(Suspension::requestState))
                .contains("state");
    }

    /** The server's state belongs to the arguments that it was called with. */
    @Test
    void edit_ofASuspendedCall_startsItAnew() {
        ConversationScript story = answeredAfterRevocation()
                .with(decided(true, Optional.of("b"), Optional.of(Json.of(Map.of("n", 9))), NONE, NONE));

        assertThat(story.call("b").suspension()).isEmpty();
    }

    @Test
    void revocation_beforeTheDispatch_asksAgain() {
        ConversationScript story =
                then(granted(GrantTerms.THREAD), use("b", "fire")).with(revoked(1));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.decides()).isEmpty();
    }

    @Test
    void revocation_afterTheClaim_leavesTheCall_butARerunAsks() {
        ConversationScript story = then(granted(GrantTerms.THREAD), use("b", "fire"))
                .with(dispatched("b", 1), claimed("b", 1, "fire", "y"), revoked(1));
        assertThat(story.call("b").status()).isEqualTo(Call.Status.CLAIMED);

        assertThat(story.with(notStarted("b", 1, "y")).call("b").status()).isEqualTo(Call.Status.AWAITING);
    }

    /** A reset reapplies every admitted claim as one that may have run. */
    @Test
    void claim_afterTheGrantExpired_isRefused_andTheCallAsks() {
        ConversationScript story = then(granted(GrantTerms.THREAD.lasting(Duration.ofMinutes(1))), use("b", "fire"))
                .with(dispatched("b", 1));
        ToolFact.ToolClaimed claim = claimed("b", 1, "fire", "y");
        Instant late = START.plusSeconds(120);

        assertThat(Rules.updateRefusal(story.state(), claim, START.plusSeconds(30)))
                .isEmpty();
        assertThat(Rules.updateRefusal(story.state(), claim, late).map(Problem::type))
                .contains(ProblemType.ALREADY_DECIDED);

        story.at(late, claim, notStarted("b", 1, "y"));
        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
        assertThat(story.call("b").claim()).isEmpty();
    }

    /** The call may have run in time, in the run that a reset undid. */
    @Test
    void restoredClaim_afterTheGrantExpired_isKept() {
        ConversationScript story = then(granted(GrantTerms.THREAD.lasting(Duration.ofMinutes(1))), use("b", "fire"))
                .with(dispatched("b", 1));

        story.at(START.plusSeconds(120), restored("b", 1, "fire", "y"));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.CLAIMED);
        assertThat(story.call("b").claim().map(Call.Claim::execution)).contains("y");
    }

    @Test
    void grant_over_letsNothingRun() {
        ConversationScript story = granted(GrantTerms.THREAD.lasting(Duration.ofMinutes(1)));
        story.at(START.plusSeconds(120), new ModelFact.ModelCalled(2), reply(2, use("b", "fire")));

        assertThat(story.call("b").status()).isEqualTo(Call.Status.AWAITING);
    }

    @Test
    void revocation_ofAMissingOrEndedGrant_isRefused() {
        ConversationScript story = granted(GrantTerms.THREAD);

        assertThat(story.refusal(revoked(2))).contains(ProblemType.NOT_FOUND);
        assertThat(story.with(revoked(1)).refusal(revoked(1))).contains(ProblemType.ALREADY_DECIDED);
    }

    @Test
    void denial_withAGrant_isRefused() {
        ConversationScript story = ToolConversationScript.replied(use("a", "fire"));

        assertThat(story.refusal(denied("a").granting(GrantTerms.THREAD))).contains(ProblemType.BAD_INPUT);
    }

    @Test
    void grants_areLimited_andEndedOnesAreDropped() {
        List<Part> calls = new ArrayList<>();
        for (int i = 0; i <= Grants.MAX; i++) {
            calls.add(use("c" + i, "fire", i));
        }
        ConversationScript story = ToolConversationScript.replied(calls.toArray(Part[]::new));
        for (int i = 0; i < Grants.MAX; i++) {
            story.with(approved("c" + i).granting(GrantTerms.THREAD));
        }
        PersonFact.ApprovalDecided last = approved("c" + Grants.MAX).granting(GrantTerms.THREAD);
        assertThat(story.refusal(last)).contains(ProblemType.BAD_INPUT);

        story.with(revoked(4), last);

        assertThat(story.state().grants().list()).hasSize(Grants.MAX);
        assertThat(story.state().grants().find(4)).isEmpty();
        assertThat(story.state().grants().find(Grants.MAX + 1)).isPresent();
    }

    @Test
    void clearedConversation_hasNoGrants() {
        ConversationScript story = granted(GrantTerms.THREAD).with(new PersonFact.Cleared(false, NONE));

        assertThat(story.state().grants().list()).isEmpty();
        story.with(said("again"));
        assertThat(then(story, use("b", "fire")).call("b").status()).isEqualTo(Call.Status.AWAITING);
    }

    @Test
    void fork_startsWithoutGrants_andContinuesTheirNumbers() {
        Conversation fork = Rules.fork(
                granted(GrantTerms.THREAD)
                        .with(new ModelFact.ModelCalled(2), reply(2, new Part.Text("done")))
                        .state(),
                new ForkRequest("fork-1", Optional.empty()),
                START.plusSeconds(60));

        assertThat(fork.grants()).isEqualTo(new Grants(1, List.of()));
    }

    /** The grant could be revoked while the activity that has the reply runs. */
    @Test
    void callOfAGrant_doesNotRunWithItsReply() {
        AgentPolicy plain = ToolConversationScript.policy(Optional.empty());
        Map<String, AgentPolicy.ToolPolicy> policies = new LinkedHashMap<>(plain.policies());
        policies.put("add", new AgentPolicy.ToolPolicy(false, true, false, false, false, 0, false, false));
        ConversationScript story = ConversationScript.of(
                        new AgentPolicy("helper", 9, plain.tools(), policies, Optional.empty()))
                .with(said("Hello"), new ModelFact.ModelCalled(1), reply(1, use("a", "add")))
                .with(approved("a").granting(GrantTerms.THREAD), dispatched("a", 1), finished("a", 1, "3"));

        then(story, use("b", "add"));

        assertThat(story.call("b").grant()).contains(1);
        assertThat(Rules.callsToRunWithReply(story.state())).isEmpty();
    }

    @Test
    void replacedConversation_hasNoGrants() {
        ConversationScript story =
                granted(GrantTerms.THREAD).with(ConversationScript.replaced(Message.user("from elsewhere")));

        assertThat(story.state().grants().list()).isEmpty();
    }
}
