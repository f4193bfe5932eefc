package dev.waymark.client.connection;

import dev.waymark.connect.Connection;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.TaskQueueType;
import io.temporal.api.taskqueue.v1.TaskQueue;
import io.temporal.api.workflowservice.v1.DescribeTaskQueueRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Finds out whether workers have polled a task queue lately. Callers that wait at the same time share one answer of the
 * server.
 */
final class QueuePolls {
    private static final Duration REUSED_FOR = Duration.ofSeconds(1);

    private final Connection connection;
    private final String taskQueue;
    private final Map<TaskQueueType, Seen> seen = new EnumMap<>(TaskQueueType.class);

    /**
     * The server's answer, or the failure to get one. Callers share a failure too, so that they do not each wait for
     * it.
     */
    private record Seen(Instant newest, Optional<StatusRuntimeException> failure, WaitDeadline until) {}

    QueuePolls(Connection connection, String taskQueue) {
        this.connection = connection;
        this.taskQueue = taskQueue;
    }

    synchronized boolean isPolledSince(TaskQueueType type, Instant time) {
        Seen known = seen.get(type);
        if (known == null || known.until().isPast()) {
            known = look(type);
            seen.put(type, known);
        }
        known.failure().ifPresent(failure -> {
            throw failure;
        });
        return known.newest().isAfter(time);
    }

    private Seen look(TaskQueueType type) {
        try {
            return new Seen(ask(type), Optional.empty(), WaitDeadline.after(REUSED_FOR));
        } catch (StatusRuntimeException e) {
            return new Seen(Instant.MIN, Optional.of(e), WaitDeadline.after(REUSED_FOR));
        }
    }

    private Instant ask(TaskQueueType type) {
        return connection
                .stubs()
                .blockingStub()
                .describeTaskQueue(DescribeTaskQueueRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setTaskQueue(TaskQueue.newBuilder().setName(taskQueue))
                        .setTaskQueueType(type)
                        .build())
                .getPollersList()
                .stream()
                .map(poller -> ServerTime.instant(poller.getLastAccessTime()))
                .max(Instant::compareTo)
                .orElse(Instant.MIN);
    }
}
