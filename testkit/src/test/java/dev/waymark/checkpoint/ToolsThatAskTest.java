package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.CallApproval;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import dev.waymark.testkit.GeneratedThread;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tools that have run and then ask a person. The question survives the loss of the server, and the tool does not run
 * again.
 */
class ToolsThatAskTest {
    private static final Instant LATER = CheckpointFixture.START.plusSeconds(86_400);
    private static final String QUESTION = "To which account?";

    private CheckpointFixture fixture;

    @BeforeEach
    void begin() {
        Message hello = Message.user("Hello");
        fixture = new CheckpointFixture(
                new PersonFact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(hello), false),
                new ModelFact.ModelCalled(1));
    }

    private void calls(Part... uses) {
        fixture.with(new ModelFact.ModelReplied(1, new Reply(List.of(uses), new Usage(10, 5), "tool_use")));
    }

    private static Part use(String id, String tool) {
        return new Part.ToolUse(id, tool, Json.of(Map.of("cents", 5)));
    }

    private void approve(String callId, Optional<Json> args) {
        fixture.with(new PersonFact.ApprovalDecided(
                true,
                Optional.empty(),
                Optional.of(callId),
                args,
                Optional.empty(),
                Optional.of("ann"),
                Optional.empty()));
    }

    /** Runs a side-effecting call up to its question. */
    private void runAndAsk(String callId, String question) {
        fixture.with(new ToolFact.ToolDispatched(callId, 1));
        Call call = fixture.state().calls().get(callId).orElseThrow();
        String digest = Sha256.hex(call.args().canonical());
        fixture.with(
                new ToolFact.ToolClaimed(callId, 1, call.tool(), digest, call.repeat(), "run-1/1/x", false),
                new ToolFact.ToolInterrupted(callId, 1, question));
    }

    private static Conversation resumed(Json checkpoint, Optional<String> answer) {
        return resumed(checkpoint.canonical(), answer);
    }

    private static Conversation resumed(String checkpoint, Optional<String> answer) {
        RestoredCheckpoint recovered = CheckpointReader.read(checkpoint.getBytes(StandardCharsets.UTF_8), LATER);
        return Rules.apply(
                Rules.apply(
                        Rules.resume(
                                recovered.state(),
                                new Resumption(
                                        "r", Optional.empty(), answer, Optional.empty(), false, Optional.empty()),
                                LATER),
                        new ThreadFact.AgentRequested(),
                        LATER),
                new ThreadFact.AgentResolved(GeneratedThread.policy()),
                LATER);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    private static void assertAnswered(Conversation resumed, String callId) {
        assertThat(call(resumed, callId).status()).isEqualTo(Call.Status.COMPLETED);
        assertThat(resumed.uncommittedResults()).contains(new Part.ToolResult(callId, "Savings", false));
        assertThat(Rules.nextSteps(resumed))
                .containsExactly(new Step.CallModel(resumed.counters().steps() + 1));
    }

    @Test
    void thread_approvedCallThatAsks_isAnsweredWithoutAnotherApproval() {
        calls(use("tu_1", "refund"));
        approve("tu_1", Optional.empty());
        runAndAsk("tu_1", QUESTION);

        Json checkpoint = CheckpointFormat.THREAD.view(fixture.timeline());

        assertThat(checkpoint.canonical()).contains("\"interrupt\": ");
        assertAnswered(resumed(checkpoint, Optional.of("Savings")), "tu_1");
        Conversation waiting = resumed(checkpoint, Optional.empty());
        assertThat(waiting.questions()).extracting(Call::id).containsExactly("tu_1");
        assertThat(call(waiting, "tu_1").approval()).get().matches(CallApproval::approved);
        assertThat(Rules.nextSteps(waiting)).isEmpty();
    }

    @Test
    void thread_approvedCallThatAsks_keepsTheArgumentsThatWereApproved() {
        calls(use("tu_1", "refund"));
        approve("tu_1", Optional.of(Json.of(Map.of("cents", 3))));
        runAndAsk("tu_1", QUESTION);

        Call call = call(resumed(CheckpointFormat.THREAD.view(fixture.timeline()), Optional.empty()), "tu_1");

        assertThat(call.args()).isEqualTo(Json.of(Map.of("cents", 3)));
        assertThat(call.approval()).get().matches(CallApproval::edited);
    }

    @Test
    void thread_callsWaitingForAnAnswerAndAnApproval_stayApart() {
        calls(
                use("tu_1", "refund"),
                new Part.ToolUse("tu_2", "refund", Json.of(Map.of("cents", 6))),
                use("tu_3", "add"));
        approve("tu_2", Optional.empty());
        runAndAsk("tu_2", QUESTION);
        fixture.with(new ToolFact.ToolDispatched("tu_3", 1), new ToolFact.ToolFinished("tu_3", 1, "5", false));

        Json checkpoint = CheckpointFormat.THREAD.view(fixture.timeline());
        Conversation resumed = resumed(checkpoint, Optional.empty());

        assertThat(resumed.batchCalls())
                .extracting(Call::status)
                .containsExactly(Call.Status.AWAITING, Call.Status.ASKING, Call.Status.COMPLETED);
        assertThat(CheckpointFormat.THREAD
                        .view(GeneratedThread.begunWith(resumed, "trip"))
                        .field("messages"))
                .isEqualTo(checkpoint.field("messages"));
    }

    @Test
    void thread_approvalOfNoOpenCall_isCorrupt() {
        calls(use("tu_1", "refund"));
        approve("tu_1", Optional.empty());
        runAndAsk("tu_1", QUESTION);
        String checkpoint = CheckpointFormat.THREAD.view(fixture.timeline()).canonical();

        for (String broken : List.of(
                checkpoint.replace("\"approvalId\": \"tu_1\", \"approved\"", "\"approvalId\": \"tu_9\", \"approved\""),
                checkpoint.replace("\"approved\": true", "\"approved\": false"),
                checkpoint.replace("\"approved\": true", "\"approved\": \"yes\""))) {
            assertThat(broken).isNotEqualTo(checkpoint);
            assertThatThrownBy(() -> CheckpointReader.read(broken.getBytes(StandardCharsets.UTF_8), LATER))
                    .isInstanceOf(CheckpointCorruption.class);
        }
    }

    /** Other programs have their own ids for approvals, and their files also contain old approvals. */
    @Test
    void thread_approvalsOfAnotherProgram_areReadButRunNothing() {
        String asked = "{\"type\":\"tool-approval-request\",\"approvalId\":\"ap_%1$d\",\"toolCallId\":\"tu_%1$d\"}";
        String approval =
                "{\"type\":\"tool-approval-response\",\"approvalId\":\"ap_%d\",\"approved\":%s,\"reason\":\"so\"}";
        String result = "{\"type\":\"tool-result\",\"toolCallId\":\"tu_%d\",\"toolName\":\"refund\","
                + "\"output\":{\"type\":\"text\",\"value\":\"%s\"}}";
        String call =
                "{\"type\":\"tool-call\",\"toolCallId\":\"tu_%1$d\",\"toolName\":\"refund\",\"input\":{\"cents\":%1$d}}";
        String checkpoint = "{\"threadId\":\"trip\",\"step\":2,\"state\":{\"todos\":[],\"files\":{}},"
                + "\"createdAt\":\"2026-05-01T09:00:00.000Z\",\"updatedAt\":\"2026-05-01T09:00:00.000Z\",\"messages\":["
                + "{\"role\":\"user\",\"content\":\"Hello\"},"
                + "{\"role\":\"assistant\",\"content\":["
                + String.join(",", call.formatted(1), asked.formatted(1), call.formatted(2), asked.formatted(2))
                + "]},{\"role\":\"tool\",\"content\":["
                + String.join(",", approval.formatted(1, true), approval.formatted(2, false))
                + "]},{\"role\":\"tool\",\"content\":["
                + String.join(",", result.formatted(1, "done"), result.formatted(2, "denied"))
                + "]},{\"role\":\"assistant\",\"content\":["
                + String.join(",", call.formatted(3), asked.formatted(3), call.formatted(4), asked.formatted(4))
                + "]},{\"role\":\"tool\",\"content\":["
                + approval.formatted(4, true)
                + "]}],\"interrupt\":{\"toolCall\":{\"toolCallId\":\"tu_3\",\"toolName\":\"refund\","
                + "\"args\":{\"cents\":3}},\"step\":2}}";

        Conversation resumed = resumed(checkpoint, Optional.empty());

        assertThat(resumed.batchCalls())
                .extracting(Call::status)
                .containsExactly(Call.Status.AWAITING, Call.Status.UNSETTLED);
        assertThat(call(resumed, "tu_4").approval()).get().matches(CallApproval::approved);
        for (String broken : List.of(
                checkpoint.replace(
                        "\"approvalId\":\"ap_4\",\"toolCallId\":\"tu_4\"",
                        "\"approvalId\":\"ap_4\",\"toolCallId\":\"tu_9\""),
                checkpoint.replace("\"approvalId\":\"ap_4\",\"toolCallId\"", "\"approvalId\":\"ap_3\",\"toolCallId\""),
                checkpoint.replace(
                        "\"approvalId\":\"ap_4\",\"approved\":true", "\"approvalId\":\"ap_4\",\"approved\":false"))) {
            assertThat(broken).isNotEqualTo(checkpoint);
            assertThatThrownBy(() -> resumed(broken, Optional.empty())).isInstanceOf(CheckpointCorruption.class);
        }
    }

    @Test
    void phases_callThatAsks_isAnsweredAndNotRunAgain() {
        for (String tool : List.of("refund", "charge")) {
            begin();
            calls(use("tu_1", tool));
            if (tool.equals("refund")) {
                approve("tu_1", Optional.empty());
            }
            runAndAsk("tu_1", QUESTION);

            Json latest = PhasesCheckpoint.latest(fixture.timeline());
            assertAnswered(resumed(latest, Optional.of("Savings")), "tu_1");
            assertThat(resumed(latest, Optional.empty()).questions())
                    .extracting(Call::id)
                    .containsExactly("tu_1");

            Json chain = Json.of(PhasesCheckpoint.chain(fixture.timeline()));
            assertAnswered(resumed(chain, Optional.of("Savings")), "tu_1");
            assertThat(resumed(chain, Optional.empty()).questions())
                    .extracting(call -> call.question().orElse(""))
                    .containsExactly(QUESTION);
        }
    }

    @Test
    void phases_chain_recordsTheQuestionsInOrder() {
        calls(use("tu_1", "charge"), use("tu_2", "refund"));
        runAndAsk("tu_1", QUESTION);
        fixture.with(new PersonFact.HumanAnswered(Optional.empty(), Optional.of("tu_1"), "Savings", Optional.empty()));

        List<Json> chain = PhasesCheckpoint.chain(fixture.timeline());

        assertThat(chain)
                .extracting(record -> record.field("phase"))
                .containsSubsequence("paused", "resumed", "paused")
                .filteredOn(phase -> phase.equals("paused"))
                .hasSize(2);
        assertThat(call(resumed(Json.of(chain), Optional.empty()), "tu_2").status())
                .isEqualTo(Call.Status.AWAITING);
    }

    /**
     * A chain of another program may lack the record of an answer. Then its last question may have been answered, and
     * the next call may wait for approval instead.
     */
    @Test
    void phases_promptThatMayBeAnswered_isNotThatOfTheNextCall() {
        calls(new Part.ToolUse("tu_1", "ask_user", Json.of(Map.of("question", QUESTION))), use("tu_2", "refund"));
        fixture.with(new PersonFact.HumanAnswered(Optional.empty(), Optional.of("tu_1"), "Savings", Optional.empty()));
        List<Json> chain = PhasesCheckpoint.chain(fixture.timeline());
        List<Object> phases =
                chain.stream().map(record -> record.field("phase")).toList();
        List<Json> silent = new ArrayList<>(chain);
        silent.remove(phases.lastIndexOf("paused"));
        silent.remove(phases.indexOf("resumed"));

        assertThat(silent).extracting(record -> record.field("phase")).containsOnlyOnce("paused");
        assertThat(call(resumed(Json.of(silent), Optional.empty()), "tu_2").status())
                .isEqualTo(Call.Status.AWAITING);
    }

    /** If it were named, the call would look like one that waits for approval, and an approved call would run. */
    @Test
    void runner_approvedCallThatAsks_isNotListedAndNotRunAgain() {
        calls(use("tu_1", "refund"));
        approve("tu_1", Optional.empty());
        runAndAsk("tu_1", QUESTION);

        Json checkpoint = RunnerCheckpoint.of(fixture.state());

        assertThat(checkpoint.field("pendingToolUseId")).isNull();
        assertThat(call(resumed(checkpoint, Optional.of("Savings")), "tu_1").status())
                .isEqualTo(Call.Status.UNSETTLED);
    }
}
