package dev.waymark.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.temporal.worker.WorkerOptions;
import io.temporal.worker.tuning.ResourceBasedControllerOptions;
import io.temporal.worker.tuning.ResourceBasedTuner;
import org.junit.jupiter.api.Test;

class WorkerCapacityTest {
    @Test
    void capacity_growsWithTheProcessors() {
        assertThat(WorkerCapacity.of(2)).isEqualTo(new WorkerCapacity(5, 200, 600));
        assertThat(WorkerCapacity.of(8)).isEqualTo(new WorkerCapacity(8, 200, 600));
        assertThat(WorkerCapacity.of(32)).isEqualTo(new WorkerCapacity(32, 800, 2_400));
        assertThat(WorkerCapacity.of(128).pollers()).isEqualTo(32);
    }

    @Test
    void chosenOptions_areKept() {
        WorkerOptions options = WorkerCapacity.of(2)
                .complete(WorkerOptions.newBuilder()
                        .setMaxConcurrentActivityExecutionSize(7)
                        .setMaxConcurrentWorkflowTaskPollers(3)
                        .build())
                .build();

        assertThat(options.getMaxConcurrentActivityExecutionSize()).isEqualTo(7);
        assertThat(options.getMaxConcurrentWorkflowTaskPollers()).isEqualTo(3);
        assertThat(options.getMaxConcurrentActivityTaskPollers()).isEqualTo(5);
        assertThat(options.getMaxConcurrentWorkflowTaskExecutionSize()).isEqualTo(200);
    }

    /** The SDK rejects fixed numbers of slots together with a tuner. */
    @Test
    void tuner_leavesTheNumbersOfSlotsUnset() {
        ResourceBasedTuner tuner = ResourceBasedTuner.newBuilder()
                .setControllerOptions(
                        ResourceBasedControllerOptions.newBuilder(0.8, 0.8).build())
                .build();

        WorkerOptions options = WorkerCapacity.of(2)
                .complete(WorkerOptions.newBuilder().setWorkerTuner(tuner).build())
                .validateAndBuildWithDefaults();

        assertThat(options.getWorkerTuner()).isSameAs(tuner);
    }
}
