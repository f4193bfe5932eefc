package dev.waymark.worker;

import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.work.WordsWorkflow;
import dev.waymark.worker.model.LiveReplies;
import dev.waymark.worker.workflow.WordsWorkflowImpl;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Answers clients that ask for the words of a worker's model calls, on a task queue that only this worker polls. */
final class WordsWorker {
    /** Queries are answered in milliseconds; more pollers would only wait. */
    private static final int POLLERS = 2;

    private static final int QUERIES_AT_ONCE = 4;
    private static final int THREADS = 4 * QUERIES_AT_ONCE;

    private final WorkerFactory factory;

    /** @param deadlock how long a query may take */
    WordsWorker(WorkflowClient client, LiveReplies live, boolean virtualThreads, Duration deadlock) {
        WorkflowClient withoutCodec = WorkflowClient.newInstance(
                client.getWorkflowServiceStubs(),
                WorkflowClientOptions.newBuilder(client.getOptions())
                        .setDataConverter(PayloadJson.dataConverter())
                        .build());
        // The workflow ends at once, so there is nothing to cache.
        this.factory = WorkerFactory.newInstance(
                withoutCodec,
                WorkerFactoryOptions.newBuilder()
                        .setWorkflowCacheSize(0)
                        .setMaxWorkflowThreadCount(THREADS)
                        .setUsingVirtualWorkflowThreads(virtualThreads)
                        .build());
        Worker worker = factory.newWorker(
                live.queue(),
                WorkerOptions.newBuilder()
                        .setLocalActivityWorkerOnly(true)
                        .setMaxConcurrentWorkflowTaskPollers(POLLERS)
                        .setMaxConcurrentWorkflowTaskExecutionSize(QUERIES_AT_ONCE)
                        .setUsingVirtualThreads(virtualThreads)
                        .setDefaultDeadlockDetectionTimeout(deadlock.toMillis())
                        .build());
        worker.registerWorkflowImplementationFactory(WordsWorkflow.class, () -> new WordsWorkflowImpl(live::report));
    }

    void start() {
        factory.start();
    }

    void stop() {
        factory.shutdownNow();
    }

    void awaitEnd(Duration most) {
        factory.awaitTermination(most.toMillis(), TimeUnit.MILLISECONDS);
    }
}
