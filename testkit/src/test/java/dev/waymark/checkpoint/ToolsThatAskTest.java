package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Part;
import dev.waymark.conversation.Reply;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Sha256;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.Usage;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.testkit.MadeUpThread;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A tool that ran, and asks a person: its question outlives the server, and the tool is not run again for it. */
class ToolsThatAskTest {
    private static final Instant START = Instant.parse("2026-05-01T09:00:00Z");
    private static final Instant LATER = START.plusSeconds(86_400);
    private static final String QUESTION = "To which account?";

    private final List<Moment> moments = new ArrayList<>();
    private Conversation state;

    @BeforeEach
    void begin() {
        state = Conversation.start(new Fact.RunStarted(1, "helper", false, Optional.empty()), START);
        apply(
                new Fact.AgentRequested(),
                new Fact.AgentResolved(MadeUpThread.terms()),
                new Fact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user("Hello")), false),
                new Fact.ModelCalled(1));
    }

    private void apply(Fact... facts) {
        for (Fact fact : facts) {
            Instant at = START.plusSeconds(moments.size());
            state = state.apply(fact, at);
            moments.add(new Moment("run-1", moments.size() + 1, at, Optional.of(fact), state));
        }
    }

    private void calls(Part... uses) {
        apply(new Fact.ModelReplied(1, new Reply(List.of(uses), new Usage(10, 5), "tool_use")));
    }

    private static Part use(String id, String tool) {
        return new Part.ToolUse(id, tool, Json.of(Map.of("cents", 5)));
    }

    private void approve(String callId, Optional<Json> args) {
        apply(new Fact.ApprovalDecided(
                true,
                Optional.empty(),
                Optional.of(callId),
                args,
                Optional.empty(),
                Optional.of("ann"),
                Optional.empty()));
    }

    /** Runs a side-effecting call as far as to its question. */
    private void runAndAsk(String callId, String question) {
        apply(new Fact.ToolDispatched(callId, 1));
        Call call = state.calls().get(callId).orElseThrow();
        String digest = Sha256.hex(call.args().canonical());
        apply(
                new Fact.ToolClaimed(callId, 1, call.tool(), digest, call.repeat(), "run-1/1/x", false),
                new Fact.ToolInterrupted(callId, 1, question));
    }

    private Timeline timeline() {
        return new Timeline(
                "trip",
                "run-1",
                moments,
                state,
                Optional.of(MadeUpThread.AGENT),
                Optional.empty(),
                moments.size(),
                false);
    }

    private static Conversation resumed(Json checkpoint, Optional<String> answer) {
        Recovered recovered = CheckpointReader.read(checkpoint.canonical().getBytes(StandardCharsets.UTF_8), LATER);
        return new Resumption("r", Optional.empty(), answer, Optional.empty(), false, Optional.empty())
                .of(recovered.state(), LATER)
                .apply(new Fact.AgentRequested(), LATER)
                .apply(new Fact.AgentResolved(MadeUpThread.terms()), LATER);
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    private static void assertAnswered(Conversation resumed, String callId) {
        assertThat(call(resumed, callId).status()).isEqualTo(Call.Status.COMPLETED);
        assertThat(resumed.uncommittedResults()).contains(new Part.ToolResult(callId, "Savings", false));
        assertThat(resumed.decide())
                .containsExactly(new Step.CallModel(resumed.counters().steps() + 1));
    }

    @Test
    void thread_approvedCallThatAsks_isAnsweredWithoutAnotherApproval() {
        calls(use("tu_1", "refund"));
        approve("tu_1", Optional.empty());
        runAndAsk("tu_1", QUESTION);

        Json checkpoint = CheckpointFormat.THREAD.view(timeline());

        assertThat(checkpoint.canonical()).contains("\"interrupt\": ");
        assertAnswered(resumed(checkpoint, Optional.of("Savings")), "tu_1");
        Conversation waiting = resumed(checkpoint, Optional.empty());
        assertThat(waiting.questions()).extracting(Call::id).containsExactly("tu_1");
        assertThat(call(waiting, "tu_1").approval()).get().matches(Call.Approval::approved);
        assertThat(waiting.decide()).isEmpty();
    }

    @Test
    void thread_approvedCallThatAsks_keepsTheArgumentsThatWereApproved() {
        calls(use("tu_1", "refund"));
        approve("tu_1", Optional.of(Json.of(Map.of("cents", 3))));
        runAndAsk("tu_1", QUESTION);

        Call call = call(resumed(CheckpointFormat.THREAD.view(timeline()), Optional.empty()), "tu_1");

        assertThat(call.args()).isEqualTo(Json.of(Map.of("cents", 3)));
        assertThat(call.approval()).get().matches(Call.Approval::edited);
    }

    @Test
    void thread_besideOneThatWaitsForItsApproval_eachWaitsForWhatItDid() {
        calls(
                use("tu_1", "refund"),
                new Part.ToolUse("tu_2", "refund", Json.of(Map.of("cents", 6))),
                use("tu_3", "add"));
        approve("tu_2", Optional.empty());
        runAndAsk("tu_2", QUESTION);
        apply(new Fact.ToolDispatched("tu_3", 1), new Fact.ToolFinished("tu_3", 1, "5", false));

        Json checkpoint = CheckpointFormat.THREAD.view(timeline());
        Conversation resumed = resumed(checkpoint, Optional.empty());

        assertThat(resumed.batchCalls())
                .extracting(Call::status)
                .containsExactly(Call.Status.AWAITING, Call.Status.ASKING, Call.Status.COMPLETED);
        assertThat(CheckpointFormat.THREAD
                        .view(MadeUpThread.begunWith(resumed, "trip"))
                        .field("messages"))
                .isEqualTo(checkpoint.field("messages"));
    }

    @Test
    void thread_approvalOfNoOpenCall_isCorruption() {
        calls(use("tu_1", "refund"));
        approve("tu_1", Optional.empty());
        runAndAsk("tu_1", QUESTION);
        String checkpoint = CheckpointFormat.THREAD.view(timeline()).canonical();

        for (String broken : List.of(
                checkpoint.replace("\"approvalId\": \"tu_1\", \"approved\"", "\"approvalId\": \"tu_9\", \"approved\""),
                checkpoint.replace("\"approved\": true", "\"approved\": false"),
                checkpoint.replace("\"approved\": true", "\"approved\": \"yes\""))) {
            assertThat(broken).isNotEqualTo(checkpoint);
            assertThatThrownBy(() -> CheckpointReader.read(broken.getBytes(StandardCharsets.UTF_8), LATER))
                    .isInstanceOf(CheckpointCorruption.class);
        }
    }

    @Test
    void phases_callThatAsks_isAnsweredAndNotRunAgain() {
        for (String tool : List.of("refund", "charge")) {
            moments.clear();
            begin();
            calls(use("tu_1", tool));
            if (tool.equals("refund")) {
                approve("tu_1", Optional.empty());
            }
            runAndAsk("tu_1", QUESTION);

            Json latest = PhasesCheckpoint.latest(timeline());
            assertAnswered(resumed(latest, Optional.of("Savings")), "tu_1");
            assertThat(resumed(latest, Optional.empty()).questions())
                    .extracting(Call::id)
                    .containsExactly("tu_1");

            Json chain = Json.of(PhasesCheckpoint.chain(timeline()));
            assertAnswered(resumed(chain, Optional.of("Savings")), "tu_1");
            assertThat(resumed(chain, Optional.empty()).questions())
                    .extracting(call -> call.question().orElse(""))
                    .containsExactly(QUESTION);
        }
    }

    @Test
    void phases_chain_tellsOfEachQuestionInItsTurn() {
        calls(use("tu_1", "charge"), use("tu_2", "refund"));
        runAndAsk("tu_1", QUESTION);
        apply(new Fact.HumanAnswered(Optional.empty(), Optional.of("tu_1"), "Savings", Optional.empty()));

        List<Json> chain = PhasesCheckpoint.chain(timeline());

        assertThat(chain)
                .extracting(record -> record.field("phase"))
                .containsSubsequence("paused", "resumed", "paused")
                .filteredOn(phase -> phase.equals("paused"))
                .hasSize(2);
        assertThat(call(resumed(Json.of(chain), Optional.empty()), "tu_2").status())
                .isEqualTo(Call.Status.AWAITING);
    }

    /** It looks like one that waits for its approval, and that one would run. */
    @Test
    void runner_approvedCallThatAsks_isNotNamed_andNotRunAgain() {
        calls(use("tu_1", "refund"));
        approve("tu_1", Optional.empty());
        runAndAsk("tu_1", QUESTION);

        Json checkpoint = RunnerCheckpoint.of(state);

        assertThat(checkpoint.field("pendingToolUseId")).isNull();
        assertThat(call(resumed(checkpoint, Optional.of("Savings")), "tu_1").status())
                .isEqualTo(Call.Status.UNSETTLED);
    }
}
