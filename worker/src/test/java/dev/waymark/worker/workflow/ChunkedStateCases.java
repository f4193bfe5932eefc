package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.connect.Connection;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.message.Refusal;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.model.ModelProvider;
import dev.waymark.thread.StatusReport;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.JavaTool;
import io.temporal.client.WorkflowUpdateException;
import io.temporal.client.WorkflowUpdateHandle;
import io.temporal.client.WorkflowUpdateStage;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** States that are too large for the input of the next run. */
abstract class ChunkedStateCases {
    abstract Connection connection();

    /** No state fits into an input, so every state is fetched. */
    static final RunLimits NOTHING_INLINE = RunLimits.DEFAULT.withCarriedBytes(100);

    /** Text that hardly compresses, and that is the same for the same name. */
    static String noise(String name, int characters) {
        byte[] bytes = new byte[characters * 3 / 4];
        new Random(name.hashCode()).nextBytes(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }

    static ModelProvider fourCallsATime(int times) {
        return request -> {
            long done = request.messages().stream()
                    .filter(message -> !message.toolResults().isEmpty())
                    .count();
            List<Part> parts = new ArrayList<>();
            for (int i = 0; i < 4 && done < times; i++) {
                parts.add(new Part.ToolUse("tu" + i, "step", Json.of(Map.of("name", "n" + done + "." + i))));
            }
            return done < times ? Reply.of(parts.toArray(Part[]::new)) : Reply.of(new Part.Text("Done"));
        };
    }

    static JavaTool<?> noisyStep(int characters) {
        return JavaTool.of(
                        "step",
                        "One step",
                        AgentWorkflowCases.City.class,
                        (city, context) -> noise(city.name(), characters))
                .safeToRetry();
    }

    /**
     * Asks the workflow first, because each reading of the history reads megabytes. A failed wait does not print them:
     * Maven would take minutes to report the failure, or lose it.
     */
    static Timeline awaitLarge(WorkflowRig rig, String thread, Predicate<Timeline> fits) {
        Awaitility.await()
                .atMost(180, TimeUnit.SECONDS)
                .pollInterval(1, TimeUnit.SECONDS)
                .ignoreExceptions() // It has no status while its state is being fetched.
                .until(
                        () -> rig.stub(thread).query(WireNames.STATUS_QUERY, StatusReport.class),
                        report -> report.turn() == 1 && report.status().equals(Turn.Status.COMPLETE.wireName()));
        Awaitility.await()
                .atMost(60, TimeUnit.SECONDS)
                .pollInterval(1, TimeUnit.SECONDS)
                .until(() -> fits.test(rig.timeline(thread)));
        return rig.timeline(thread);
    }

    @Test
    void longTurn_overManyRuns_isOneConversation() {
        List<dev.waymark.model.ModelRequest> requests = new ArrayList<>();
        try (WorkflowRig rig = new WorkflowRig(
                connection(), ContinueAsNewCases.stepping(12, requests), ContinueAsNewCases.stepTool())) {
            String thread = rig.start(ContinueAsNewCases.start(NOTHING_INLINE.withSoftEvents(24))
                    .saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitSettled(thread);

            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            Timeline timeline = rig.timeline(thread);
            assertThat(ContinueAsNewCases.runs(timeline)).hasSizeGreaterThan(3);
            assertThat(timeline.cut()).isFalse();
            assertThat(state.transcript().messages()).hasSize(26);
            assertThat(requests).hasSize(13);
            ContinueAsNewCases.assertFactsAreConsecutive(timeline, state);
            assertThat(rig.audit(thread).mismatches()).isEmpty();
            assertThat(rig.audit(thread).modelCalls()).isEqualTo(13);
        }
    }

    /** Starts a thread whose first turn is over, and whose second run waits for its state. */
    static String waitingForItsState(WorkflowRig rig) {
        rig.holdStates();
        String thread = rig.start(ContinueAsNewCases.start(NOTHING_INLINE.withSoftEvents(12))
                .saying(PersonFact.UserSpoke.message("m-0", "Hello")));
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> rig.fetchesOfStates() > 0);
        return thread;
    }

    @Test
    void inputBeforeTheState_isAppliedAfterwards() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = waitingForItsState(rig);

            Conversation before = rig.timeline(thread).now();
            assertThat(before.turn().text()).isEqualTo("You said: Hello");
            assertThat(before.transcript().messages()).hasSize(2);
            assertThatThrownBy(() -> rig.stub(thread).query(WireNames.STATUS_QUERY, StatusReport.class))
                    .hasStackTraceContaining("has not been fetched yet");

            rig.stub(thread).signal(SignalNames.SAY, Map.of("id", "m-1", "content", "First"));
            WorkflowUpdateHandle<Ack> second =
                    updating(rig, thread, SignalNames.SAY, Map.of("id", "m-2", "content", "Second"));
            WorkflowUpdateHandle<Ack> again =
                    updating(rig, thread, SignalNames.SAY, Map.of("id", "m-0", "content", "x"));
            WorkflowUpdateHandle<Ack> unknown = updating(rig, thread, SignalNames.APPROVE, Map.of("callId", "tu_9"));
            Conversation meanwhile = rig.timeline(thread).now();
            assertThat(ContinueAsNewCases.said(meanwhile)).startsWith("Hello");
            assertThat(meanwhile.counters().facts())
                    .isGreaterThan(before.counters().facts());
            rig.releaseStates();

            assertThat(second.getResultAsync().join().duplicate()).isFalse();
            assertThat(again.getResultAsync().join().duplicate()).isTrue();
            assertThatThrownBy(() -> unknown.getResultAsync().join())
                    .cause()
                    .isInstanceOf(WorkflowUpdateException.class)
                    .satisfies(e -> assertThat(Refusal.parse(AgentWorkflowCases.rootMessage(e))
                                    .type())
                            .isEqualTo(ProblemType.NOT_FOUND));
            Conversation state = rig.awaitTurn(thread, 2);
            rig.await(thread, now -> now.isSettled() && now.queue().isEmpty());
            assertThat(ContinueAsNewCases.said(rig.timeline(thread).now())).containsExactly("Hello", "First", "Second");
            assertThat(state.counters().facts()).isGreaterThan(before.counters().facts());
        }
    }

    private static WorkflowUpdateHandle<Ack> updating(WorkflowRig rig, String thread, String name, Object payload) {
        return rig.stub(thread).startUpdate(name, WorkflowUpdateStage.ACCEPTED, Ack.class, payload);
    }

    @Test
    void halfFetchedState_isCompletedByAnotherWorker() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = waitingForItsState(rig);
            rig.replaceWorker();
            rig.stub(thread).signal(SignalNames.SAY, Map.of("id", "m-1", "content", "Still there?"));
            rig.releaseStates();

            assertThat(rig.awaitTurn(thread, 2).turn().text()).isEqualTo("You said: Still there?");
        }
    }

    @Test
    void cancellationBeforeTheState_cancelsTheThreadAfterwards() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = waitingForItsState(rig);
            rig.stub(thread).cancel();
            rig.releaseStates();

            Timeline ended = rig.awaitTimeline(thread, now -> now.ending().isPresent());

            assertThat(ended.ending().orElseThrow().kind()).isEqualTo(dev.waymark.timeline.RunEnding.Kind.CANCELLED);
            assertThat(ended.now().transcript().messages()).hasSize(2);
        }
    }

    /**
     * An operator may complete the activity manually. If the result is not a part of the state, the part is fetched
     * again.
     */
    @Test
    void partCompletedByHand_withAnotherResult_isFetchedAgain() {
        try (WorkflowRig rig = new WorkflowRig(connection(), AgentWorkflowCases::echo)) {
            String thread = waitingForItsState(rig);
            rig.completeByHand(thread, "{\"count\": 1, \"whole\": \"x\", \"bytes\": \"H4sI\"}");
            Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> rig.fetchesOfStates() > 1);
            rig.completeByHand(thread, "17");
            rig.releaseStates();
            rig.update(thread, SignalNames.SAY, Map.of("id", "m-1", "content", "Still there?"));

            assertThat(rig.awaitTurn(thread, 2).turn().text()).isEqualTo("You said: Still there?");
        }
    }
}
