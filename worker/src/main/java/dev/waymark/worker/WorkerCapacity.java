package dev.waymark.worker;

import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;

/**
 * Default limits of a worker, which depend on the number of processors. On a machine with few processors, the three
 * limits below are the Temporal SDK's own defaults.
 *
 * @param pollers the number of concurrent polls for each kind of task
 * @param workflowTasks the maximum number of concurrent workflow tasks
 * @param cachedWorkflows the maximum number of threads kept in memory between their tasks
 */
record WorkerCapacity(int pollers, int workflowTasks, int cachedWorkflows) {
    private static final int POLLERS = 5;
    private static final int MOST_POLLERS = 32;
    private static final int WORKFLOW_TASKS = 200;
    private static final int WORKFLOW_TASKS_PER_PROCESSOR = 25;
    private static final int CACHED_WORKFLOWS = 600;
    private static final int CACHED_WORKFLOWS_PER_PROCESSOR = 75;

    /** More than the tool slots of all kinds together, so that tools that wait for a slot do not block model calls. */
    private static final int ACTIVITIES = 2_000;

    static WorkerCapacity of(int processors) {
        return new WorkerCapacity(
                Math.max(POLLERS, Math.min(MOST_POLLERS, processors)),
                Math.max(WORKFLOW_TASKS, WORKFLOW_TASKS_PER_PROCESSOR * processors),
                Math.max(CACHED_WORKFLOWS, CACHED_WORKFLOWS_PER_PROCESSOR * processors));
    }

    static WorkerCapacity ofThisMachine() {
        return of(Runtime.getRuntime().availableProcessors());
    }

    /** Returns these options with defaults for the unset ones. With a tuner, the numbers of slots stay unset. */
    WorkerOptions.Builder complete(WorkerOptions chosen) {
        WorkerOptions.Builder options = WorkerOptions.newBuilder(chosen);
        if (chosen.getWorkerTuner() == null) {
            if (chosen.getMaxConcurrentActivityExecutionSize() == 0) {
                options.setMaxConcurrentActivityExecutionSize(ACTIVITIES);
            }
            if (chosen.getMaxConcurrentWorkflowTaskExecutionSize() == 0) {
                options.setMaxConcurrentWorkflowTaskExecutionSize(workflowTasks);
            }
        }
        if (chosen.getMaxConcurrentActivityTaskPollers() == 0 && chosen.getActivityTaskPollersBehavior() == null) {
            options.setMaxConcurrentActivityTaskPollers(pollers);
        }
        if (chosen.getMaxConcurrentWorkflowTaskPollers() == 0 && chosen.getWorkflowTaskPollersBehavior() == null) {
            options.setMaxConcurrentWorkflowTaskPollers(pollers);
        }
        return options;
    }

    /** Allows one Java thread for each workflow in memory, because each of them has at least one. */
    WorkerFactoryOptions.Builder factoryOptions() {
        return WorkerFactoryOptions.newBuilder()
                .setWorkflowCacheSize(cachedWorkflows)
                .setMaxWorkflowThreadCount(cachedWorkflows);
    }
}
