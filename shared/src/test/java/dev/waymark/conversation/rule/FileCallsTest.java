package dev.waymark.conversation.rule;

import static dev.waymark.conversation.rule.ConversationScript.NONE;
import static dev.waymark.conversation.rule.ConversationScript.START;
import static dev.waymark.conversation.rule.ConversationScript.ask;
import static dev.waymark.conversation.rule.ConversationScript.use;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.checkpoint.RunnerCheckpoint;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.FromFile;
import dev.waymark.conversation.decision.CallSettlement;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.decision.Signers;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.policy.WaitRule;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Open calls that only a file contains: which of them run, and after whose decision. */
class FileCallsTest {
    private static final Instant LATER = START.plusSeconds(3_600);
    private static final Json TASK = Json.of(Map.of("task", "Find it"));
    private static final Resumption ONWARD =
            new Resumption("r", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty());

    /** An agent with one tool of each kind. */
    private static AgentPolicy agent(Optional<AgentPolicy.Approvals> approvals) {
        Map<String, AgentPolicy.Executor> tools =
                new LinkedHashMap<>(ConversationScript.policy(4).tools());
        for (String activity : List.of("charge", "guarded", "checked", "forbidding", "asking", "once")) {
            tools.put(activity, AgentPolicy.Executor.ACTIVITY);
        }
        tools.put("write_file", AgentPolicy.Executor.STATE);
        tools.put("scout", AgentPolicy.Executor.SUBAGENT);
        Map<String, AgentPolicy.ToolPolicy> policies = Map.of(
                "charge", new AgentPolicy.ToolPolicy(true, false, false, false, false, 60_000, false, false),
                "guarded", new AgentPolicy.ToolPolicy(true, true, false, false, false, 60_000, false, false),
                "checked", new AgentPolicy.ToolPolicy(true, false, false, true, false, 60_000, false, false),
                "forbidding", new AgentPolicy.ToolPolicy(true, false, false, true, false, 60_000, true, true),
                "asking", new AgentPolicy.ToolPolicy(true, false, false, false, true, 60_000, true, false),
                "once", new AgentPolicy.ToolPolicy(true, false, true, false, false, 60_000, false, false));
        return new AgentPolicy("helper", 4, tools, policies, approvals);
    }

    private static Restoration file(Part.ToolUse... calls) {
        return new Restoration(START, false)
                .say(Message.user("Go"), Optional.empty(), START)
                .say(new Message(Role.ASSISTANT, List.of(calls)), Optional.empty(), START);
    }

    /** A snapshot with a pending reply, whose calls were never started. */
    private static Restoration pending(Part.ToolUse... calls) {
        return file(calls).untouched();
    }

    private static Conversation resumed(Restoration file, FileCalls allowed) {
        return resumed(file, allowed, Optional.empty());
    }

    private static Conversation resumed(
            Restoration file, FileCalls allowed, Optional<AgentPolicy.Approvals> approvals) {
        return resolved(Rules.resume(file.restore(), ONWARD.withFileCalls(allowed), LATER), approvals);
    }

    private static Conversation resolved(Conversation begun, Optional<AgentPolicy.Approvals> approvals) {
        return Rules.apply(
                Rules.apply(begun, new ThreadFact.AgentRequested(), LATER),
                new ThreadFact.AgentResolved(agent(approvals)),
                LATER);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    private static Fact decided(boolean approved, Optional<Json> args) {
        return new PersonFact.ApprovalDecided(
                approved, Optional.empty(), Optional.of("tu_1"), args, NONE, Optional.of("ann"), NONE);
    }

    private static Conversation approved(Conversation state) {
        return Rules.apply(state, decided(true, Optional.empty()), LATER);
    }

    private static Conversation denied(Conversation state) {
        return Rules.apply(state, decided(false, Optional.empty()), LATER);
    }

    private static void waits(Conversation state, boolean mayHaveRun) {
        assertThat(Rules.nextSteps(state)).isEmpty();
        assertThat(state.isInterrupted()).isTrue();
        assertThat(state.asks())
                .singleElement()
                .returns(PendingItem.Kind.APPROVAL, PendingItem::kind)
                .returns(true, PendingItem::fromFile)
                .returns(mayHaveRun, PendingItem::mayHaveRun);
    }

    @ParameterizedTest
    @ValueSource(strings = {"add", "charge", "guarded", "checked", "forbidding", "asking", "write_file"})
    void pendingCall_waitsForADecision_andCanBeDenied(String tool) {
        Conversation begun = resumed(pending(use("tu_1", tool)), FileCalls.WAIT);

        waits(begun, false);
        assertThat(begun.workspace()).isEqualTo(Workspace.EMPTY);
        assertThat(call(denied(begun), "tu_1"))
                .returns(Call.Status.DENIED, Call::status)
                .returns(
                        Optional.of("Tool execution denied by user. The " + tool + " tool was not executed."),
                        Call::result);
    }

    @ParameterizedTest
    @ValueSource(strings = {"add", "charge", "guarded", "checked"})
    void pendingCall_approved_runs(String tool) {
        Conversation approved = approved(resumed(pending(use("tu_1", tool)), FileCalls.WAIT));

        assertThat(Rules.nextSteps(approved)).containsExactly(new Step.RunTool(call(approved, "tu_1"), 1));
        assertThat(call(approved, "tu_1").fromFile()).contains(new FromFile(false, false));
    }

    @Test
    void pendingStateTool_approved_isApplied() {
        Json args = Json.of(Map.of("path", "a", "content", "x"));
        Conversation begun = resumed(pending(new Part.ToolUse("tu_1", "write_file", args)), FileCalls.WAIT);

        assertThat(begun.workspace().files().contains("a")).isFalse();
        assertThat(approved(begun).workspace().files().contains("a")).isTrue();
    }

    @Test
    void pendingCallOfASubagent_waitsForADecision() {
        for (FileCalls allowed : List.of(FileCalls.WAIT, FileCalls.CONTINUE_SAFE)) {
            Conversation begun = resumed(pending(new Part.ToolUse("tu_1", "scout", TASK)), allowed);

            waits(begun, false);
            assertThat(Rules.nextSteps(approved(begun))).hasSize(1).first().isInstanceOf(Step.StartSubagent.class);
        }
    }

    @Test
    void safeCallThatMayHaveRun_waits_andItsDenialMakesNoClaim() {
        Conversation begun = resumed(file(use("tu_1", "add")), FileCalls.WAIT);

        waits(begun, true);
        assertThat(call(denied(begun), "tu_1").result().orElseThrow())
                .isEqualTo("Tool execution denied by user. The add tool was not executed here. The call comes from a"
                        + " file, and may have run before; whether it took effect is not known.");
        assertThat(Rules.nextSteps(approved(begun))).hasSize(1).first().isInstanceOf(Step.RunTool.class);
    }

    @Test
    void callThatMayHaveRun_ofAToolWithACheck_isNotEvenChecked() {
        Conversation begun = resumed(file(use("tu_1", "forbidding")), FileCalls.WAIT);
        Instant over = LATER.plusSeconds(60).plus(LostCallRules.FENCE);

        waits(begun, true);
        Conversation due = Rules.apply(approved(begun), new ThreadFact.TimePassed(), over);
        assertThat(Rules.nextSteps(due)).containsExactly(new Step.VerifyTool(call(due, "tu_1")));
        assertThat(Rules.nextSteps(verified(due, over))).hasSize(1).first().isInstanceOf(Step.RunTool.class);
    }

    private static Conversation verified(Conversation due, Instant at) {
        return Rules.apply(
                Rules.apply(due, new ToolFact.VerifyDispatched("tu_1", 0), at),
                new ToolFact.ToolVerified("tu_1", 0, Optional.of(false), Optional.empty()),
                at);
    }

    @Test
    void callThatMayHaveRun_isApprovedOnlyWithItsOwnArguments() {
        Conversation begun = resumed(file(use("tu_1", "forbidding")), FileCalls.WAIT);
        Fact.Inbound edited = (Fact.Inbound) decided(true, Optional.of(Json.of(Map.of("cents", 1))));

        assertThat(Rules.refusal(begun, edited).map(Problem::type)).contains(ProblemType.BAD_INPUT);
        assertThat(Rules.refusal(resumed(pending(use("tu_1", "charge")), FileCalls.WAIT), edited))
                .isEmpty();
    }

    @Test
    void callThatMayHaveRun_ofAToolWithoutACheck_isLost() {
        assertThat(call(resumed(file(use("tu_1", "charge")), FileCalls.WAIT), "tu_1")
                        .status())
                .isEqualTo(Call.Status.LOST);
        Conversation asking = resumed(file(use("tu_1", "asking")), FileCalls.WAIT);
        assertThat(asking.asks())
                .singleElement()
                .returns(PendingItem.Kind.UNKNOWN, PendingItem::kind)
                .returns(true, PendingItem::fromFile);

        Conversation rerun = Rules.apply(
                asking,
                new PersonFact.OutcomeSettled("tu_1", CallSettlement.Outcome.RERUN, Optional.empty(), NONE),
                LATER);

        waits(rerun, false);
        assertThat(Rules.nextSteps(approved(rerun))).hasSize(1).first().isInstanceOf(Step.RunTool.class);
    }

    @Test
    void deniedRerun_saysThatTheCallMayHaveRunBefore() {
        Conversation rerun = Rules.apply(
                resumed(file(use("tu_1", "asking")), FileCalls.WAIT),
                new PersonFact.OutcomeSettled("tu_1", CallSettlement.Outcome.RERUN, Optional.empty(), NONE),
                LATER);

        assertThat(call(denied(rerun), "tu_1").result().orElseThrow())
                .isEqualTo("Tool execution denied by user. The asking tool was not executed here. The call comes from"
                        + " a file, and may have run before; whether it took effect is not known.");
    }

    @ParameterizedTest
    @EnumSource(FileCalls.class)
    void checkWithoutAnEffect_isReportedToTheModel(FileCalls allowed) {
        Conversation begun = resumed(file(use("tu_1", "checked")), allowed);
        Instant over = LATER.plusSeconds(60).plus(LostCallRules.FENCE);
        Conversation due =
                Rules.apply((allowed == FileCalls.WAIT ? approved(begun) : begun), new ThreadFact.TimePassed(), over);

        assertThat(call(verified(due, over), "tu_1"))
                .returns(Call.Status.LOST, Call::status)
                .extracting(call -> call.result().orElseThrow(), InstanceOfAssertFactories.STRING)
                .contains("did not complete durably", "a check found that it had not taken effect");
        Conversation unclear = Rules.apply(
                Rules.apply(due, new ToolFact.VerifyDispatched("tu_1", 0), over),
                new ToolFact.ToolVerified("tu_1", 0, Optional.empty(), Optional.empty()),
                over);
        assertThat(call(unclear, "tu_1").result().orElseThrow()).doesNotContain("a check found");
    }

    @Test
    void approvalInTheFile_decidesNothing() {
        waits(resumed(pending(use("tu_1", "guarded")).approved("tu_1"), FileCalls.WAIT), false);
        waits(resumed(file(use("tu_1", "forbidding")).approved("tu_1"), FileCalls.WAIT), true);
    }

    @Test
    void question_isAsked_andAnAnswerRunsNothing() {
        Conversation begun = resumed(pending(ask("tu_1", "Which day?")), FileCalls.WAIT);
        assertThat(begun.asks())
                .singleElement()
                .returns(PendingItem.Kind.QUESTION, PendingItem::kind)
                .returns(true, PendingItem::fromFile);

        Conversation answered = Rules.apply(begun, ConversationScript.answered("Friday"), LATER);

        assertThat(Rules.nextSteps(answered)).containsExactly(new Step.CallModel(1));
    }

    @Test
    void callThatSeemsToAsk_isNeverRunByAnAnswer() {
        for (String tool : List.of("add", "charge", "forbidding", "write_file")) {
            Conversation begun = resumed(file(use("tu_1", tool)).pending("tu_1").prompt("Which day?"), FileCalls.WAIT);

            Conversation answered = Rules.apply(begun, ConversationScript.answered("Friday"), LATER);

            assertThat(Rules.nextSteps(answered)).as(tool).containsExactly(new Step.CallModel(1));
        }
    }

    private static Conversation answering(Restoration file) {
        return Rules.resume(
                file.restore(),
                new Resumption("r", NONE, Optional.of("Friday"), Optional.empty(), false, NONE)
                        .withFileCalls(FileCalls.WAIT),
                LATER);
    }

    /** In a file, a call that waits for approval may look like one that asks. The agent's tools show which it is. */
    @Test
    void answerOfTheResumption_toACallWithoutAQuestion_countsIfItsToolAsks() {
        Conversation asks = resolved(answering(file(use("tu_1", "ask_user")).pending("tu_1")), Optional.empty());
        Conversation waits = resolved(answering(file(use("tu_1", "guarded")).pending("tu_1")), Optional.empty());

        assertThat(call(asks, "tu_1").result()).contains("Friday");
        assertThat(Rules.nextSteps(asks)).containsExactly(new Step.CallModel(1));
        assertThat(call(waits, "tu_1"))
                .returns(Call.Status.AWAITING, Call::status)
                .returns(Optional.empty(), Call::result);
    }

    @Test
    void answerOfTheResumption_isTheResultOfAKnownQuestion_orElseAMessage() {
        Conversation asked = answering(file(use("tu_1", "add")).pending("tu_1").prompt("Which day?"));
        Conversation said = answering(new Restoration(START, false).say(Message.user("Go"), Optional.empty(), START));

        assertThat(call(asked, "tu_1"))
                .returns(Call.Status.COMPLETED, Call::status)
                .returns(Optional.of("Friday"), Call::result);
        assertThat(said.queue()).extracting(Queued::message).containsExactly(Message.user("Friday"));
    }

    @Test
    void answer_toACallThatWaitsForADecision_isRefused() {
        Conversation begun = resumed(pending(use("tu_1", "add")), FileCalls.WAIT);

        assertThat(Rules.refusal(begun, ConversationScript.answered("tu_1", "yes"))
                        .map(Problem::type))
                .contains(ProblemType.NOT_FOUND);
    }

    @Test
    void siblingOfACallThatAsks_runsOnlyAfterADecision() {
        Restoration both = file(use("tu_1", "add"), ask("tu_2", "Which day?")).pending("tu_2");
        Conversation begun = resumed(both, FileCalls.WAIT);

        assertThat(Rules.nextSteps(begun)).isEmpty();
        assertThat(begun.asks()).extracting(PendingItem::callId).containsExactly("tu_1", "tu_2");
        assertThat(Rules.nextSteps(approved(begun))).hasSize(1).first().isInstanceOf(Step.RunTool.class);
    }

    @Test
    void identicalCalls_areDecidedOneAfterTheOther() {
        Conversation begun = resumed(pending(use("tu_1", "charge"), use("tu_2", "charge")), FileCalls.WAIT);
        assertThat(begun.asks()).extracting(PendingItem::callId).containsExactly("tu_1");

        Conversation next = denied(begun);

        assertThat(next.asks()).extracting(PendingItem::callId).containsExactly("tu_2");
        assertThat(Rules.nextSteps(next)).isEmpty();
    }

    @Test
    void resultThatTheFileRecords_isReturnedWithoutADecision() {
        Restoration repeated = new Restoration(START, false)
                .say(Message.user("Go"), Optional.empty(), START)
                .say(new Message(Role.ASSISTANT, List.of(use("tu_0", "once"))), Optional.empty(), START)
                .say(ConversationScript.results(ConversationScript.result("tu_0", "paid")), Optional.empty(), START)
                .say(new Message(Role.ASSISTANT, List.of(use("tu_1", "once"))), Optional.empty(), START)
                .untouched();

        assertThat(call(resumed(repeated, FileCalls.WAIT), "tu_1").result())
                .contains("[idempotent replay of tu_0]: paid");
    }

    @Test
    void identicalCallAheadOfTheTranscript_isNotCheckedBeforeTheDecision() {
        Restoration ahead =
                pending(use("tu_1", "forbidding")).rememberIssued("tu_0", "forbidding", Json.EMPTY_OBJECT, START);
        Conversation begun = resumed(ahead, FileCalls.WAIT);

        waits(begun, false);
        Conversation due = approved(begun);
        assertThat(Rules.nextSteps(due)).containsExactly(new Step.VerifyTool(call(due, "tu_1")));
    }

    @Test
    void agentWithoutApprovers_deniesTheCall() {
        Conversation begun = resumed(
                pending(use("tu_1", "add")),
                FileCalls.WAIT,
                Optional.of(new AgentPolicy.Approvals(true, Optional.empty())));

        assertThat(call(begun, "tu_1").status()).isEqualTo(Call.Status.DENIED);
    }

    @Test
    void deadlineForApprovals_appliesToCallsOfAFile() {
        Conversation begun = resumed(
                pending(use("tu_1", "add")),
                FileCalls.WAIT,
                Optional.of(new AgentPolicy.Approvals(false, Optional.of(30_000L))));

        Conversation late = Rules.apply(begun, new ThreadFact.TimePassed(), LATER.plusSeconds(31));

        assertThat(call(late, "tu_1").status()).isEqualTo(Call.Status.DENIED);
    }

    @Test
    void agentWithSigners_acceptsOnlyASignedDecision() {
        Signers signers = new Signers("trip", Map.of());
        Conversation begun = resumed(
                pending(use("tu_1", "add")),
                FileCalls.WAIT,
                Optional.of(
                        new AgentPolicy.Approvals(false, Optional.empty(), Optional.of(signers), WaitRule.DEFAULT)));

        assertThat(begun.asks().get(0).signers()).isPresent();
        assertThat(Rules.refusal(begun, (Fact.Inbound) decided(true, Optional.empty())))
                .isPresent();
    }

    @Test
    void otherArguments_thanThoseShown_areRefused() {
        Conversation begun = resumed(pending(use("tu_1", "charge")), FileCalls.WAIT);
        PersonFact.ApprovalDecided stale = new PersonFact.ApprovalDecided(
                true, Optional.empty(), Optional.of("tu_1"), Optional.empty(), Optional.of("stale"), NONE, NONE);

        assertThat(Rules.refusal(begun, stale).map(Problem::type)).contains(ProblemType.ARGS_CHANGED);
    }

    @Test
    void stop_ofACallThatMayHaveRun_makesNoClaim() {
        Conversation stopped = Rules.apply(
                resumed(file(use("tu_1", "forbidding")), FileCalls.WAIT), new PersonFact.Stopped(NONE), LATER);

        assertThat(call(stopped, "tu_1").result().orElseThrow()).contains("may have run before");
    }

    @Test
    void forkOrSecondResumption_keepsTheDecisionOpen() {
        Conversation begun = resumed(pending(use("tu_1", "add")), FileCalls.WAIT);

        for (Conversation next : List.of(
                Rules.resume(begun, ONWARD, LATER), Rules.fork(begun, new ForkRequest("f", Optional.empty()), LATER))) {
            waits(resolved(next, Optional.empty()), false);
        }
        Conversation unresolved =
                Rules.resume(pending(use("tu_1", "charge")).restore(), ONWARD.withFileCalls(FileCalls.WAIT), LATER);
        waits(resolved(Rules.resume(unresolved, ONWARD, LATER), Optional.empty()), false);
    }

    /** Otherwise, a reader of the next file would take the call for one that was never started. */
    @Test
    void callThatMayHaveRun_isNotExportedAsWaiting() {
        Conversation mayHaveRun = resumed(file(use("tu_1", "forbidding")), FileCalls.WAIT);
        Conversation never = resumed(pending(use("tu_1", "forbidding")), FileCalls.WAIT);

        assertThat(RunnerCheckpoint.of(mayHaveRun).field("pendingToolUseId")).isNull();
        assertThat(RunnerCheckpoint.of(never).field("pendingToolUseId")).isEqualTo("tu_1");
    }

    @Test
    void safeCalls_continueIfTheCallerAllowsIt() {
        for (Restoration each : List.of(pending(use("tu_1", "add")), file(use("tu_1", "add")))) {
            Conversation begun = resumed(each, FileCalls.CONTINUE_SAFE);

            assertThat(Rules.nextSteps(begun)).hasSize(1).first().isInstanceOf(Step.RunTool.class);
            assertThat(call(begun, "tu_1").fromFile()).isEmpty();
        }
        waits(resumed(pending(use("tu_1", "charge")), FileCalls.CONTINUE_SAFE), false);
        assertThat(resumed(pending(ask("tu_1", "Which day?")), FileCalls.CONTINUE_SAFE)
                        .asks())
                .singleElement()
                .returns(false, PendingItem::fromFile);
    }

    @Test
    void callThatMayHaveRun_isOnlyChecked_ifOnlySafeCallsContinue() {
        Conversation begun = resumed(file(use("tu_1", "forbidding")), FileCalls.CONTINUE_SAFE);
        Instant over = LATER.plusSeconds(60).plus(LostCallRules.FENCE);
        Conversation due = Rules.apply(begun, new ThreadFact.TimePassed(), over);
        assertThat(Rules.nextSteps(due)).containsExactly(new Step.VerifyTool(call(due, "tu_1")));

        waits(verified(due, over), false);
    }

    @Test
    void fileMark_isStoredOnlyIfSet() throws Exception {
        Call plain = call(resumed(pending(use("tu_1", "charge")), FileCalls.CONTINUE), "tu_1");
        Call marked = call(resumed(pending(use("tu_1", "charge")), FileCalls.WAIT), "tu_1");

        assertThat(PayloadJson.MAPPER.valueToTree(plain).has("fromFile")).isFalse();
        assertThat(PayloadJson.MAPPER.valueToTree(marked).get("fromFile").toString())
                .isEqualTo("{}");
        UnaryOperator<String> damaged = json -> json.replace("\"fromFile\":{}", "\"fromFile\":null");
        assertThat(PayloadJson.MAPPER
                        .readValue(damaged.apply(PayloadJson.MAPPER.writeValueAsString(marked)), Call.class)
                        .fromFile())
                .isEmpty();
    }
}
