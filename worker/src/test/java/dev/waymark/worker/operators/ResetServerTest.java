package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Turn;
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

/** Operators take threads back to earlier points. What their tools have done can't be taken back. */
@Tag("server")
class ResetServerTest {
    @TempDir
    static Path directory;

    private static Till till;
    private static Plant plant;

    @BeforeAll
    static void open() {
        till = new Till(directory.resolve("ledger"));
        plant = new Plant(TestServers.real(), till);
        plant.workflows();
        plant.activities();
    }

    @AfterAll
    static void close() {
        plant.close();
    }

    static Stream<Wish> wishes() {
        List<Wish> wishes = new ArrayList<>();
        for (Wish.Ids ids : Wish.Ids.values()) {
            wishes.add(new Wish(Till.CHARGE, 4, ids));
        }
        wishes.add(new Wish(Till.CHARGE, 1, Wish.Ids.FRESH));
        for (String tool : Till.KINDS.subList(1, Till.KINDS.size())) {
            wishes.add(new Wish(tool, 1, Wish.Ids.FRESH));
            wishes.add(new Wish(tool, 4, Wish.Ids.FRESH));
        }
        return wishes.stream();
    }

    /** Each reset is of the run that is current then, so what happened in all the runs before is known to the next. */
    @ParameterizedTest
    @MethodSource("wishes")
    @Execution(ExecutionMode.CONCURRENT)
    void reset_toEveryTaskOfAFinishedTurn_chargesNothingAgain(Wish wish) {
        String thread = plant.start(wish);
        plant.attend(thread);
        plant.check(thread, wish);
        int resets = 0;
        for (int task = 0; task < completedTasks(thread).size(); task++) {
            if (reset(thread, completedTasks(thread).get(task))) {
                resets++;
                assertThat(plant.attend(thread).turn().status()).isEqualTo(Turn.Status.COMPLETE);
                plant.check(thread, wish);
            }
        }
        assertThat(resets).isGreaterThan(3);
    }

    /** The events at which tasks of the newest run were completed. */
    private static List<Long> completedTasks(String thread) {
        return plant.connection().client().fetchHistory(thread).getEvents().stream()
                .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                .map(HistoryEvent::getEventId)
                .toList();
    }

    /** Where the server wrote a task's beginning and end at once, as it does for some updates, it refuses. */
    private static boolean reset(String thread, long eventId) {
        try {
            plant.connection()
                    .stubs()
                    .blockingStub()
                    .resetWorkflowExecution(ResetWorkflowExecutionRequest.newBuilder()
                            .setNamespace(plant.connection().namespace())
                            .setWorkflowExecution(plant.execution(thread))
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
