package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.connect.Connection;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelProvider;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.HistoryEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Adds resets and terminations, which only a real server supports. */
@Tag("server")
@Tag("full")
class SubagentServerTest extends SubagentCases {
    @Override
    Connection connection() {
        return TestServers.real();
    }

    private static final ModelProvider ASKING = boss(task("tu_7", "scout", "ask Which day?"));

    /**
     * The last completed workflow task before the event of this type, or the first one after it. An event is visible
     * before any task has processed it, so this may have to wait for that task.
     */
    static long task(WorkflowRig rig, String thread, EventType type, boolean after) {
        return Awaitility.await()
                .atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(50))
                .until(() -> completed(rig, thread, type, after), Optional::isPresent)
                .orElseThrow();
    }

    private static Optional<Long> completed(WorkflowRig rig, String thread, EventType type, boolean after) {
        List<HistoryEvent> events =
                rig.client().fetchHistory(thread, rig.timeline(thread).runId()).getEvents();
        List<EventType> types = events.stream().map(HistoryEvent::getEventType).toList();
        int at = types.indexOf(type);
        List<EventType> near = after ? types.subList(at, types.size()) : types.subList(0, at);
        EventType completed = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED;
        int found = after ? near.indexOf(completed) : near.lastIndexOf(completed);
        return found < 0
                ? Optional.empty()
                : Optional.of(events.get(after ? at + found : found).getEventId());
    }

    private static Conversation answerBelow(WorkflowRig rig, String thread) {
        rig.stub(thread + "/tu_7").signal(SignalNames.ANSWER, "Friday");
        return rig.await(thread + "/tu_7", now -> now.turn().status() == Turn.Status.COMPLETE);
    }

    @Test
    void reset_toBeforeASubagent_doesNotStartItAgain() {
        try (WorkflowRig rig = new WorkflowRig(connection(), ASKING).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);
            String run = rig.timeline(thread).runId();

            EventType begun = EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED;
            AgreementServerTest.reset(rig, thread, run, task(rig, thread, begun, false));

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.calls().get("tu_7").orElseThrow().status()).isEqualTo(Call.Status.LOST);
            assertThat(state.turn().text()).contains("tool-durability-error");
            assertThat(answerBelow(rig, thread).turn().text()).contains("Friday");
            assertThat(ContinueAsNewCases.runs(rig.timeline(thread + "/tu_7"))).hasSize(1);
            Conversation late = rig.await(thread, now -> now.ignored().count() > 0);
            assertThat(late.ignored().last().get(0).signal()).isEqualTo(SignalNames.SUBAGENT);
        }
    }

    @Test
    void reset_toBeforeAnAnswer_continuesWithTheSameSubagent() {
        try (WorkflowRig rig = new WorkflowRig(connection(), ASKING).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);
            String run = rig.timeline(thread).runId();

            EventType signalled = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED;
            AgreementServerTest.reset(rig, thread, run, task(rig, thread, signalled, true));
            rig.update(thread, SignalNames.ANSWER, Map.of("callId", "tu_7/tu_1", "answer", "Friday"));

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).isEqualTo("All told: [ask Which day? gave [Friday]]");
            assertThat(ContinueAsNewCases.runs(rig.timeline(thread + "/tu_7"))).hasSize(1);
        }
    }

    @Test
    void reset_toBeforeTheAnswerOfAFinishedSubagent_receivesItAgain() {
        try (WorkflowRig rig = new WorkflowRig(connection(), ASKING).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);
            rig.update(thread, SignalNames.ANSWER, Map.of("callId", "tu_7/tu_1", "answer", "Friday"));
            rig.awaitTurn(thread, 1);
            String run = rig.timeline(thread).runId();

            EventType signalled = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED;
            AgreementServerTest.reset(rig, thread, run, task(rig, thread, signalled, true));

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).isEqualTo("All told: [ask Which day? gave [Friday]]");
        }
    }

    /** The in-memory server does not tell child threads or parents about a termination. */
    @Test
    void terminatedThread_cancelsItsSubagents() {
        try (WorkflowRig rig = new WorkflowRig(connection(), ASKING).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);

            rig.stub(thread).terminate("test");

            rig.awaitTimeline(thread + "/tu_7", line -> line.ending().isPresent());
            assertThat(rig.timeline(thread + "/tu_7").now().turn().status()).isEqualTo(Turn.Status.CANCELLED);
        }
    }

    @Test
    void terminatedSubagent_isAnErrorAndItsReportedUsageCounts() {
        try (WorkflowRig rig = new WorkflowRig(connection(), ASKING).withSubagents("boss", "scout")) {
            String thread = rig.start(go());
            rig.adopt(thread + "/tu_7");
            rig.await(thread, Conversation::isInterrupted);

            rig.stub(thread + "/tu_7").terminate("test");

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).contains("the subagent scout ended as terminated");
            assertThat(state.usage()).isEqualTo(new Usage(120, 3));
        }
    }
}
