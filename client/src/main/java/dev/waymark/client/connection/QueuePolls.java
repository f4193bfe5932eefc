package dev.waymark.client.connection;

import dev.waymark.client.list.ServerLoad;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.history.PendingAnswer;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.TaskQueueType;
import io.temporal.api.taskqueue.v1.TaskQueue;
import io.temporal.api.taskqueue.v1.TaskQueueStats;
import io.temporal.api.workflowservice.v1.DescribeTaskQueueRequest;
import io.temporal.api.workflowservice.v1.DescribeTaskQueueResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * Determines whether workers serve a task queue. Callers that wait at the same time share one answer of the server.
 *
 * <p>A worker that waits for work polls only once a minute, a busy worker does not poll, and a slow server may not hand
 * out tasks to idle workers. Missing polls therefore show nothing as long as other workers poll, the queue hands out
 * tasks, or no task waits in it.
 */
final class QueuePolls {
    /** Longer than a poll stays open at the server without a task. */
    private static final Duration POLLS_AT_LEAST_EVERY = Duration.ofSeconds(65);

    private static final Duration REUSED_FOR = Duration.ofSeconds(1);
    /** Many callers wait for the answer. A server that takes longer is too busy to say that workers are absent. */
    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(3);

    private final Connection connection;
    private final String taskQueue;
    private CompletableFuture<WorkerPresence> newest = CompletableFuture.completedFuture(WorkerPresence.BUSY);
    private volatile WaitDeadline reusedUntil = WaitDeadline.after(Duration.ZERO);
    /** The time until which the last taken task shows that there is a worker. */
    private volatile WaitDeadline tookUntil = WaitDeadline.after(Duration.ZERO);

    QueuePolls(Connection connection, String taskQueue) {
        this.connection = connection;
        this.taskQueue = taskQueue;
    }

    /**
     * The presence of the queue's workers, for a caller whose work has been waiting for {@link Requests#WORKER_WAIT}.
     * The in-memory server does not report polls: its worker counts as absent if it has taken no work of any caller
     * since.
     *
     * <p>No Java thread waits for the answer, and it takes at most {@link #LONGEST_ANSWER}.
     */
    synchronized CompletableFuture<WorkerPresence> presence() {
        if (connection.isInMemory()) {
            return CompletableFuture.completedFuture(tookUntil.isPast() ? WorkerPresence.ABSENT : WorkerPresence.BUSY);
        }
        if (newest.isDone() && reusedUntil.isPast()) {
            newest = ask().whenComplete((presence, failure) -> reusedUntil = WaitDeadline.after(REUSED_FOR));
        }
        return newest;
    }

    /**
     * Records that a worker has taken a task for which a caller waited. On the in-memory server, nothing else shows
     * that it is present.
     */
    void taken() {
        tookUntil = WaitDeadline.after(Requests.WORKER_WAIT);
    }

    private CompletableFuture<WorkerPresence> ask() {
        Instant now = Instant.now();
        return ask(TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW)
                .thenCombine(
                        ask(TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY),
                        (workflows, activities) -> presence(now, workflows, activities))
                .exceptionally(QueuePolls::unanswered);
    }

    private static WorkerPresence presence(Instant now, Seen workflows, Seen activities) {
        Instant newest =
                workflows.newestPoll.isAfter(activities.newestPoll) ? workflows.newestPoll : activities.newestPoll;
        if (newest.isAfter(now.minus(Requests.WORKER_WAIT)) || workflows.moves || activities.moves) {
            return WorkerPresence.BUSY;
        }
        if (newest.isBefore(now.minus(POLLS_AT_LEAST_EVERY))) {
            return WorkerPresence.ABSENT;
        }
        return workflows.isBehind || activities.isBehind ? WorkerPresence.SILENT : WorkerPresence.IDLE;
    }

    private static WorkerPresence unanswered(Throwable failure) {
        Throwable cause = failure instanceof CompletionException combined ? combined.getCause() : failure;
        if (cause instanceof StatusRuntimeException e) {
            // A server that is too busy to answer does not show that workers are absent.
            return ServerAnswer.of(e).mayPass() ? WorkerPresence.BUSY : WorkerPresence.ABSENT;
        }
        throw new CompletionException(cause);
    }

    /**
     * The server's report about one kind of tasks. Servers before 1.25 report only polls.
     *
     * @param moves whether tasks were handed to workers in the last half minute
     * @param isBehind whether a task waits in the queue
     */
    private record Seen(Instant newestPoll, boolean moves, boolean isBehind) {
        static Seen of(DescribeTaskQueueResponse queue) {
            Instant newestPoll = queue.getPollersList().stream()
                    .map(poller -> ServerTime.instant(poller.getLastAccessTime()))
                    .max(Instant::compareTo)
                    .orElse(Instant.MIN);
            TaskQueueStats stats = queue.getStats();
            return new Seen(
                    newestPoll,
                    stats.getTasksDispatchRate() > 0,
                    stats.getApproximateBacklogAge().getSeconds() >= Requests.WORKER_WAIT.toSeconds());
        }
    }

    /** The tasks of this kind that no worker has taken, and the age of the oldest. None on servers before 1.25. */
    ServerLoad.Backlog backlog(TaskQueueType type) {
        TaskQueueStats stats = connection
                .stubs()
                .blockingStub()
                .withDeadlineAfter(LONGEST_ANSWER.toMillis(), TimeUnit.MILLISECONDS)
                .describeTaskQueue(description(type))
                .getStats();
        return new ServerLoad.Backlog(
                stats.getApproximateBacklogCount(),
                Duration.ofSeconds(
                        stats.getApproximateBacklogAge().getSeconds(),
                        stats.getApproximateBacklogAge().getNanos()));
    }

    private CompletableFuture<Seen> ask(TaskQueueType type) {
        return PendingAnswer.of(
                        connection
                                .stubs()
                                .futureStub()
                                .withDeadlineAfter(LONGEST_ANSWER.toMillis(), TimeUnit.MILLISECONDS)
                                .describeTaskQueue(description(type)),
                        queue -> queue)
                .thenApply(Seen::of);
    }

    private DescribeTaskQueueRequest description(TaskQueueType type) {
        return DescribeTaskQueueRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setTaskQueue(TaskQueue.newBuilder().setName(taskQueue))
                .setTaskQueueType(type)
                .setReportStats(true)
                .build();
    }
}
