package dev.waymark.starter.worker;

import dev.waymark.cli.CommandFailure;
import dev.waymark.worker.AgentWorker;
import io.temporal.worker.tuning.ResourceBasedControllerOptions;
import io.temporal.worker.tuning.ResourceBasedTuner;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that limit how much work a worker does at a time. */
final class CapacityOptions {
    @Option(
            names = "--activity-slots",
            paramLabel = "N",
            description = "Run at most N model calls and tools at the same time. Default: 2000.")
    private @Nullable Integer activitySlots;

    @Option(
            names = "--workflow-slots",
            paramLabel = "N",
            description = "Run at most N workflow tasks at the same time; at least 2. Default: 25 per processor, at"
                    + " least 200.")
    private @Nullable Integer workflowSlots;

    @Option(
            names = "--pollers",
            paramLabel = "N",
            description = "Keep N polls open for each kind of task; at least 2. Default: one per processor, 5 to 32.")
    private @Nullable Integer pollers;

    @Option(
            names = "--cached-threads",
            paramLabel = "N",
            description =
                    "Keep up to N threads in memory between their tasks, in each of two caches. Default: 75 per processor, at"
                            + " least 600.")
    private @Nullable Integer cachedThreads;

    @Option(
            names = "--target-load",
            paramLabel = "PERCENT",
            description = "Accept work while processor and memory usage are both below this percentage, instead of"
                    + " using a fixed number of slots.")
    private @Nullable Integer targetLoad;

    /** Checks the options and applies them to a worker. */
    AgentWorker.Builder of(AgentWorker.Builder worker) throws CommandFailure {
        check("--activity-slots", activitySlots, 1, Integer.MAX_VALUE);
        check("--workflow-slots", workflowSlots, 2, Integer.MAX_VALUE);
        check("--pollers", pollers, 2, 1_000);
        check("--cached-threads", cachedThreads, 1, Integer.MAX_VALUE);
        check("--target-load", targetLoad, 1, 99);
        if (targetLoad != null && (activitySlots != null || workflowSlots != null)) {
            throw CommandFailure.badInput(
                    "--target-load can't be combined with fixed slots", "Omit --activity-slots and --workflow-slots");
        }
        worker.workerOptions(options -> {
            if (activitySlots != null) {
                options.setMaxConcurrentActivityExecutionSize(activitySlots);
            }
            if (workflowSlots != null) {
                options.setMaxConcurrentWorkflowTaskExecutionSize(workflowSlots);
            }
            if (pollers != null) {
                options.setMaxConcurrentActivityTaskPollers(pollers).setMaxConcurrentWorkflowTaskPollers(pollers);
            }
            if (targetLoad != null) {
                double load = targetLoad / 100.0;
                options.setWorkerTuner(ResourceBasedTuner.newBuilder()
                        .setControllerOptions(ResourceBasedControllerOptions.newBuilder(load, load)
                                .build())
                        .build());
            }
            return options;
        });
        return worker.factoryOptions(options -> cachedThreads == null
                ? options
                : options.setWorkflowCacheSize(cachedThreads).setMaxWorkflowThreadCount(cachedThreads));
    }

    private static void check(String option, @Nullable Integer value, int least, int most) throws CommandFailure {
        if (value != null && (value < least || value > most)) {
            throw CommandFailure.badInput(
                    option + " is " + value,
                    most == Integer.MAX_VALUE ? "Give at least " + least : "Give " + least + " to " + most);
        }
    }
}
