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

        /**
         * Whether the tool is claimed and nothing happens to its worker: it then continues, whatever the operator does.
         */
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
        String thread = SplitWorkers.newThread();
        ToolBarrier before = charges.holdBefore(thread).firm();
        ToolBarrier after = charges.holdAfter(thread).firm();
        try (SplitWorkers workers = new SplitWorkers(TestServers.real(), charges)) {
            SplitWorkers.HalfWorker workflows = workers.workflows();
            SplitWorkers.HalfWorker activities = workers.activities();
            workers.start(thread, REQUEST);
            Call waiting = workers.awaitCall(thread, Call.Status.AWAITING);
            // Stops the activity worker, so that the tool can be caught after it is scheduled and before it starts.
            activities.stop();
            workers.decide(thread, waiting);
            workers.awaitCall(thread, Call.Status.DISPATCHED);
            if (scenario.point() == Point.STARTED) {
                // No worker answers the tool's claim.
                workflows.stop();
            }
            if (scenario.point() != Point.SCHEDULED) {
                activities = workers.activities();
            }
            switch (scenario.point()) {
                case SCHEDULED -> {}
                case STARTED -> workers.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_STARTED);
                case CLAIMED -> before.awaitArrival();
                case CHARGED -> {
                    before.open();
                    after.awaitArrival();
                }
            }

            interfere(workers, thread, scenario, activities);

            if (scenario.point() == Point.STARTED) {
                workers.workflows();
            }
            if (scenario.worker() != Worker.STAYS || scenario.point() == Point.SCHEDULED) {
                workers.activities();
            }
            if (scenario.operation() != Operation.RESET) {
                if (scenario.isUnstoppable()) {
                    // The activity has learned of the pause from its heartbeats, and must continue after that, too.
                    workers.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED);
                    awaitHeartbeat(workers, thread);
                    awaitHeartbeat(workers, thread);
                } else {
                    // While the activity is paused, the server does not detect the loss of its worker.
                    unpause(workers, thread);
                }
            }
            if (scenario.isFirstAttemptAgain()) {
                // The other execution was refused. The claimed one determines the outcome.
                workers.awaitCall(thread, Call.Status.UNKNOWN);
            }
            before.open();
            after.open();
            Conversation state = workers.attend(thread);
            workers.check(thread, REQUEST);
            assertThat(state.turn().status()).isEqualTo(Turn.Status.COMPLETE);
            Call call = state.calls().get(waiting.id()).orElseThrow();
            if (scenario.isFirstAttemptAgain()) {
                assertThat(lastOutcome(workers, thread).notStarted())
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
    private static void interfere(SplitWorkers workers, String thread, Scenario scenario, SplitWorkers.HalfWorker activities) {
        if (scenario.operation() != Operation.RESET) {
            pause(workers, thread);
        }
        if (scenario.operation() == Operation.RESET) {
            reset(workers, thread, false);
        }
        switch (scenario.worker()) {
            case STAYS -> {}
            case CUT_OFF -> activities.cable().cut();
            case DISOWNED -> fail(workers, thread);
        }
        if (scenario.operation() == Operation.PAUSE_AND_RESET) {
            if (scenario.isFirstAttemptAgain()) {
                workers.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_PAUSED);
            }
            reset(workers, thread, true);
        }
        if (scenario.operation() != Operation.RESET && !scenario.isUnstoppable() && scenario.worker() == Worker.STAYS) {
            workers.awaitActivityState(thread, PendingActivityState.PENDING_ACTIVITY_STATE_PAUSED);
        }
    }

    /** The newest outcome of the tool's activity. */
    private static ToolOutcome lastOutcome(SplitWorkers workers, String thread) {
        List<HistoryEvent> events =
                workers.connection().client().fetchHistory(thread).getEvents();
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

    private static void awaitHeartbeat(SplitWorkers workers, String thread) {
        Timestamp before = workers.activities(thread).get(0).getLastHeartbeatTime();
        Awaitility.await(thread)
                .atMost(SplitWorkers.PATIENCE)
                .until(() ->
                        !workers.activities(thread).get(0).getLastHeartbeatTime().equals(before));
    }

    private static void pause(SplitWorkers workers, String thread) {
        workers.connection()
                .stubs()
                .blockingStub()
                .pauseActivity(PauseActivityRequest.newBuilder()
                        .setNamespace(workers.connection().namespace())
                        .setExecution(workers.execution(thread))
                        .setType(REQUEST.tool())
                        .setIdentity("ann")
                        .build());
    }

    private static void fail(SplitWorkers workers, String thread) {
        workers.connection()
                .stubs()
                .blockingStub()
                .respondActivityTaskFailedById(RespondActivityTaskFailedByIdRequest.newBuilder()
                        .setNamespace(workers.connection().namespace())
                        .setWorkflowId(thread)
                        .setActivityId(workers.activities(thread).get(0).getActivityId())
                        .setFailure(Failure.newBuilder()
                                .setMessage("somebody thought so")
                                .setApplicationFailureInfo(ApplicationFailureInfo.getDefaultInstance()))
                        .setIdentity("ann")
                        .build());
    }

    private static void unpause(SplitWorkers workers, String thread) {
        workers.connection()
                .stubs()
                .blockingStub()
                .unpauseActivity(UnpauseActivityRequest.newBuilder()
                        .setNamespace(workers.connection().namespace())
                        .setExecution(workers.execution(thread))
                        .setType(REQUEST.tool())
                        .setIdentity("ann")
                        .build());
    }

    private static void reset(SplitWorkers workers, String thread, boolean keepPaused) {
        workers.connection()
                .stubs()
                .blockingStub()
                .resetActivity(ResetActivityRequest.newBuilder()
                        .setNamespace(workers.connection().namespace())
                        .setExecution(workers.execution(thread))
                        .setType(REQUEST.tool())
                        .setIdentity("ann")
                        .setKeepPaused(keepPaused)
                        .build());
    }
}
