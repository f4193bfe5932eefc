package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.state.Turn;
import dev.waymark.timeline.Moment;
import dev.waymark.worker.workflow.TestServers;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflowservice.v1.ResetWorkflowExecutionRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Operators reset threads to earlier points. The effects of their tools cannot be undone. */
@Tag("server")
@Tag("full")
class ResetServerTest {
    @TempDir
    static Path directory;

    private static ChargeService charges;
    private static WorkerFleet fleet;

    @BeforeAll
    static void open() {
        charges = new ChargeService(directory.resolve("ledger"));
        fleet = new WorkerFleet(TestServers.real(), charges);
        fleet.workflows();
        fleet.activities();
    }

    @AfterAll
    static void close() {
        if (fleet != null) { // It is null if the server is missing and the tests are skipped.
            fleet.close();
        }
    }

    static Stream<ChargeRequest> requests() {
        List<ChargeRequest> requests = new ArrayList<>();
        for (ChargeRequest.Ids ids : ChargeRequest.Ids.values()) {
            requests.add(new ChargeRequest(ChargeService.CHARGE, 4, ids));
        }
        requests.add(new ChargeRequest(ChargeService.CHARGE, 1, ChargeRequest.Ids.FRESH));
        for (String tool : ChargeService.KINDS.subList(1, ChargeService.KINDS.size())) {
            requests.add(new ChargeRequest(tool, 1, ChargeRequest.Ids.FRESH));
            requests.add(new ChargeRequest(tool, 4, ChargeRequest.Ids.FRESH));
        }
        return requests.stream();
    }

    /**
     * Each reset applies to the newest run: the first reset to the original run, each later one to the run that the
     * previous reset created.
     */
    @ParameterizedTest
    @MethodSource("requests")
    @Execution(ExecutionMode.CONCURRENT)
    void reset_toEveryTaskOfAFinishedTurn_chargesNothingAgain(ChargeRequest request) {
        String thread = fleet.start(request);
        fleet.attend(thread);
        fleet.check(thread, request);
        int resets = 0;
        for (int task = 0; task < completedTasks(thread).size(); task++) {
            if (reset(thread, completedTasks(thread).get(task))) {
                resets++;
                assertThat(fleet.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                fleet.check(thread, request);
            }
        }
        assertThat(resets).isGreaterThan(3);
    }

    enum Point {
        CLAIMED,
        CHARGED
    }

    record Held(ChargeRequest request, Point point) {}

    static Stream<Held> held() {
        List<Held> all = new ArrayList<>();
        for (Point point : Point.values()) {
            for (String tool : ChargeService.KINDS) {
                all.add(new Held(new ChargeRequest(tool, 1, ChargeRequest.Ids.FRESH), point));
            }
            all.add(new Held(new ChargeRequest(ChargeService.CHARGE, 4, ChargeRequest.Ids.SAME), point));
        }
        return all.stream();
    }

    /** After the reset, the outcome of the previous run's tool is lost. */
    @ParameterizedTest
    @MethodSource("held")
    @Execution(ExecutionMode.CONCURRENT)
    void reset_whileTheToolRuns_chargesNothingTwice(Held held) throws Exception {
        List<String> threads = new ArrayList<>();
        List<ToolBarrier> gates = new ArrayList<>();
        int places = 6;
        for (int i = 0; i < places; i++) {
            String thread = WorkerFleet.newThread();
            ToolBarrier gate = held.point() == Point.CLAIMED ? charges.holdBefore(thread) : charges.holdAfter(thread);
            gates.add(gate.firm());
            threads.add(fleet.start(thread, held.request()));
        }
        int resets = 0;
        for (int i = 0; i < places; i++) {
            String thread = threads.get(i);
            if (held.request().tool().equals(ChargeService.APPROVED)) {
                fleet.decide(thread, fleet.awaitCall(thread, Call.Status.AWAITING));
            }
            gates.get(i).awaitArrival();
            List<Long> tasks = completedTasks(thread);
            resets += i < tasks.size() && reset(thread, tasks.get(i)) ? 1 : 0;
        }
        assertThat(resets).isGreaterThan(2);
        for (int i = 0; i < places; i++) {
            boolean wasReset = fleet.timeline(threads.get(i)).moments().stream()
                            .map(Moment::runId)
                            .distinct()
                            .count()
                    > 1;
            if (!wasReset) {
                gates.get(i).open();
            }
            assertThat(fleet.attend(threads.get(i)).turn().status()).isEqualTo(Turn.Status.COMPLETE);
            gates.get(i).open();
            fleet.check(threads.get(i), held.request());
        }
    }

    /** The events at which workflow tasks of the newest run were completed. */
    private static List<Long> completedTasks(String thread) {
        return fleet.connection().client().fetchHistory(thread).getEvents().stream()
                .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                .map(HistoryEvent::getEventId)
                .toList();
    }

    /**
     * Returns false if the server refuses, which it does if it wrote the start and the end of a task together, as for
     * some updates.
     */
    private static boolean reset(String thread, long eventId) {
        try {
            fleet.connection()
                    .stubs()
                    .blockingStub()
                    .resetWorkflowExecution(ResetWorkflowExecutionRequest.newBuilder()
                            .setNamespace(fleet.connection().namespace())
                            .setWorkflowExecution(fleet.execution(thread))
                            .setWorkflowTaskFinishEventId(eventId)
                            .setRequestId(UUID.randomUUID().toString())
                            .setReason("a test")
                            .build());
            return true;
        } catch (StatusRuntimeException e) {
            if (String.valueOf(e.getMessage()).contains("must be at the boundary")) {
                return false;
            }
            throw e;
        }
    }
}
