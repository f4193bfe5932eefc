package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.ToolOutcome;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.state.Turn;
import dev.waymark.worker.workflow.TestServers;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.enums.v1.PendingActivityState;
import io.temporal.api.failure.v1.ApplicationFailureInfo;
import io.temporal.api.failure.v1.Failure;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflowservice.v1.PauseActivityRequest;
import io.temporal.api.workflowservice.v1.ResetActivityRequest;
import io.temporal.api.workflowservice.v1.RespondActivityTaskFailedByIdRequest;
import io.temporal.api.workflowservice.v1.UnpauseActivityRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Operators pause, unpause and reset the activity of a tool that must not run twice. */
@Tag("server")
@Tag("full")
class ActivityOperationsServerTest {
    private static final ChargeRequest REQUEST = new ChargeRequest(ChargeService.APPROVED, 1, ChargeRequest.Ids.FRESH);

    @TempDir
    static Path directory;

    private static ChargeService charges;

    enum Operation {
        PAUSE,
        RESET,
        PAUSE_AND_RESET
    }

    /** The progress of the tool when the operator acts. */
    enum Point {
        SCHEDULED,
        STARTED,
        CLAIMED,
        CHARGED
    }

    /** What happens to the worker that runs the tool. */
    enum Worker {
        STAYS,
        /** The worker loses its connection to the server, and its tool continues. */
        CUT_OFF,
        /** The worker's tool continues, but the activity was reported to the server as failed. */
        DISOWNED
    }

    record Scenario(Operation operation, Point point, Worker worker) {
        /** Whether another execution, which is also a first attempt, starts while a claimed execution continues. */
        boolean isFirstAttemptAgain() {
            return operation == Operation.PAUSE_AND_RESET
                    && worker == Worker.DISOWNED
                    && (point == Point.CLAIMED || point == Point.CHARGED);
        }

        /** Whether the tool is claimed and its worker keeps running: then no operator action stops it. */
        boolean isUnstoppable() {
            return worker == Worker.STAYS && (point == Point.CLAIMED || point == Point.CHARGED);
        }
    }

    static Stream<Scenario> scenarios() {
        List<Scenario> all = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            for (Point point : Point.values()) {
                for (Worker worker : point == Point.SCHEDULED ? List.of(Worker.STAYS) : List.of(Worker.values())) {
                    all.add(new Scenario(operation, point, worker));
                }
            }
        }
        return all.stream();
    }

    @BeforeAll
    static void open() {
        TestServers.real();
        charges = new ChargeService(directory.resolve("ledger"));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    @Execution(ExecutionMode.CONCURRENT)
    void operator_interferes_chargesAtMostOnceAndContinues(Scenario scenario) throws Exception {
        String thread = WorkerFleet.newThread();
        ToolBarrier before = charges.holdBefore(thread).firm();
        ToolBarrier after = charges.holdAfter(thread).firm();
        try (WorkerFleet fleet = new WorkerFleet(TestServers.real(), charges)) {
            WorkerFleet.HalfWorker workflows = fleet.workflows();
            WorkerFleet.HalfWorker activities = fleet.activities();
            fleet.start(thread, REQUEST);
            Call waiting = fleet.awaitCall(thread, Call.Status.AWAITING);
            // Stops the activity worker, so that the tool can be caught after it is scheduled and before it starts.
            activities.stop();
            fleet.decide(thread, waiting);
            fleet.awaitCall(thread, Call.Status.DISPATCHED);
            if (scenario.point() == Point.STARTED) {
                // No worker answers the tool's claim.
                workflows.stop();
            }
            if (scenario.point() != Point.SCHEDULED) {
                activities = fleet.activities();
            }
            switch (scenario.point()) {
                case SCHEDULED -> {}
                case STARTED -> fleet.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_STARTED);
                case CLAIMED -> before.awaitArrival();
                case CHARGED -> {
                    before.open();
                    after.awaitArrival();
                }
            }

            interfere(fleet, thread, scenario, activities);

            if (scenario.point() == Point.STARTED) {
                fleet.workflows();
            }
            if (scenario.worker() != Worker.STAYS || scenario.point() == Point.SCHEDULED) {
                fleet.activities();
            }
            if (scenario.operation() != Operation.RESET) {
                if (scenario.isUnstoppable()) {
                    // The activity has learned of the pause from its heartbeats, and must continue after that, too.
                    fleet.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED);
                    awaitHeartbeat(fleet, thread);
                    awaitHeartbeat(fleet, thread);
                } else {
                    // While the activity is paused, the server does not detect the loss of its worker.
                    unpause(fleet, thread);
                }
            }
            if (scenario.isFirstAttemptAgain()) {
                // The other execution was refused. The claimed one determines the outcome.
                fleet.awaitCall(thread, Call.Status.UNKNOWN);
            }
            before.open();
            after.open();
            Conversation state = fleet.attend(thread);
            fleet.check(thread, REQUEST);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            Call call = state.calls().get(waiting.id()).orElseThrow();
            if (scenario.isFirstAttemptAgain()) {
                assertThat(lastOutcome(fleet, thread).notStarted())
                        .map(why -> why.execution().split("/")[1])
                        .contains("1");
            }
            if (scenario.point() == Point.STARTED) {
                // The claim of an execution that was stopped while it waited for the answer may be granted later.
                assertThat(call.status()).isIn(Call.Status.COMPLETED, Call.Status.LOST);
            } else if (scenario.worker() == Worker.CUT_OFF) {
                assertThat(call.status()).isEqualTo(Call.Status.LOST);
            } else {
                assertThat(call.status()).isEqualTo(Call.Status.COMPLETED);
            }
        }
    }

    /**
     * Applies the operation and what happens to the worker. If the pause stops the tool, returns when the server has
     * noticed that.
     */
    private static void interfere(
            WorkerFleet fleet, String thread, Scenario scenario, WorkerFleet.HalfWorker activities) {
        if (scenario.operation() != Operation.RESET) {
            pause(fleet, thread);
        }
        if (scenario.operation() == Operation.RESET) {
            reset(fleet, thread, false);
        }
        switch (scenario.worker()) {
            case STAYS -> {}
            case CUT_OFF -> activities.cable().cut();
            case DISOWNED -> fail(fleet, thread);
        }
        if (scenario.operation() == Operation.PAUSE_AND_RESET) {
            if (scenario.isFirstAttemptAgain()) {
                fleet.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_PAUSED);
            }
            reset(fleet, thread, true);
        }
        if (scenario.operation() != Operation.RESET && !scenario.isUnstoppable() && scenario.worker() == Worker.STAYS) {
            fleet.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_PAUSED);
        }
    }

    /** The newest outcome of the tool's activity. */
    private static ToolOutcome lastOutcome(WorkerFleet fleet, String thread) {
        List<HistoryEvent> events =
                fleet.connection().client().fetchHistory(thread).getEvents();
        Payloads result = events.stream()
                .filter(HistoryEvent::hasActivityTaskCompletedEventAttributes)
                .map(HistoryEvent::getActivityTaskCompletedEventAttributes)
                .filter(completed -> events.get((int) completed.getScheduledEventId() - 1)
                        .getActivityTaskScheduledEventAttributes()
                        .getActivityType()
                        .getName()
                        .equals(REQUEST.tool()))
                .reduce((first, second) -> second)
                .orElseThrow()
                .getResult();
        return PayloadJson.dataConverter().fromPayloads(0, Optional.of(result), ToolOutcome.class, ToolOutcome.class);
    }

    private static void awaitHeartbeat(WorkerFleet fleet, String thread) {
        Timestamp before = fleet.activities(thread).get(0).getLastHeartbeatTime();
        Awaitility.await(thread)
                .atMost(WorkerFleet.PATIENCE)
                .until(() ->
                        !fleet.activities(thread).get(0).getLastHeartbeatTime().equals(before));
    }

    private static void pause(WorkerFleet fleet, String thread) {
        fleet.connection()
                .stubs()
                .blockingStub()
                .pauseActivity(PauseActivityRequest.newBuilder()
                        .setNamespace(fleet.connection().namespace())
                        .setExecution(fleet.execution(thread))
                        .setType(REQUEST.tool())
                        .setIdentity("ann")
                        .build());
    }

    private static void fail(WorkerFleet fleet, String thread) {
        fleet.connection()
                .stubs()
                .blockingStub()
                .respondActivityTaskFailedById(RespondActivityTaskFailedByIdRequest.newBuilder()
                        .setNamespace(fleet.connection().namespace())
                        .setWorkflowId(thread)
                        .setActivityId(fleet.activities(thread).get(0).getActivityId())
                        .setFailure(Failure.newBuilder()
                                .setMessage("somebody thought so")
                                .setApplicationFailureInfo(ApplicationFailureInfo.getDefaultInstance()))
                        .setIdentity("ann")
                        .build());
    }

    private static void unpause(WorkerFleet fleet, String thread) {
        fleet.connection()
                .stubs()
                .blockingStub()
                .unpauseActivity(UnpauseActivityRequest.newBuilder()
                        .setNamespace(fleet.connection().namespace())
                        .setExecution(fleet.execution(thread))
                        .setType(REQUEST.tool())
                        .setIdentity("ann")
                        .build());
    }

    private static void reset(WorkerFleet fleet, String thread, boolean keepPaused) {
        fleet.connection()
                .stubs()
                .blockingStub()
                .resetActivity(ResetActivityRequest.newBuilder()
                        .setNamespace(fleet.connection().namespace())
                        .setExecution(fleet.execution(thread))
                        .setType(REQUEST.tool())
                        .setIdentity("ann")
                        .setKeepPaused(keepPaused)
                        .build());
    }
}
