package dev.waymark.worker;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.WireNames;
import dev.waymark.worker.limit.ServiceLimits;
import io.temporal.api.enums.v1.TaskQueueType;
import io.temporal.api.taskqueue.v1.PollerInfo;
import io.temporal.api.taskqueue.v1.TaskQueue;
import io.temporal.api.workflowservice.v1.DescribeTaskQueueRequest;
import io.temporal.api.workflowservice.v1.DescribeTaskQueueResponse;
import io.temporal.client.WorkflowClient;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the task queues of limits, and logs each change: workers that state different rates or none, and calls
 * that wait for a limit that no worker has any more.
 */
final class LimitWatch implements AutoCloseable {
    static final int SECONDS_PER_MINUTE = 60;

    private static final Logger LOG = LoggerFactory.getLogger(LimitWatch.class);
    /** The server learns of a rate only when its first worker polls. */
    private static final long FIRST_SECONDS = 5;

    private static final long EVERY_SECONDS = 60;
    private static final long ANSWER_SECONDS = 5;

    /** The server remembers workers for minutes. One that polls asks at least this often. */
    private static final long POLL_SECONDS = 120;

    /** The server reports this rate, for each second, for a worker that states none. */
    private static final long UNLIMITED = 100_000L * SECONDS_PER_MINUTE;

    private final WorkflowClient client;
    private final String taskQueue;
    private final ServiceLimits limits;
    private final Collection<AgentSpec> agents;
    private final ScheduledExecutorService schedule =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("waymark-limit-watch"));
    /** What was logged last, by limit. */
    private final Map<String, String> told = new LinkedHashMap<>();

    LimitWatch(WorkflowClient client, String taskQueue, ServiceLimits limits, Collection<AgentSpec> agents) {
        this.client = client;
        this.taskQueue = taskQueue;
        this.limits = limits;
        this.agents = agents;
    }

    void start() {
        limits.unused(agents).forEach(LOG::warn);
        schedule.scheduleWithFixedDelay(this::look, FIRST_SECONDS, EVERY_SECONDS, TimeUnit.SECONDS);
    }

    private void look() {
        limits.byName().forEach((name, limit) -> look(name, queue -> disagreement(name, limit, queue)));
        limits.absent(agents).forEach(name -> look(name, queue -> absence(name, queue)));
    }

    private void look(String name, Function<DescribeTaskQueueResponse, Optional<String>> warning) {
        try {
            tell(name, warning.apply(describe(name)));
        } catch (RuntimeException e) {
            // Thrown on, it would end the watch.
            LOG.debug("The task queue of the limit {} can't be described", name, e);
        }
    }

    private void tell(String name, Optional<String> warning) {
        String before = told.getOrDefault(name, "");
        String now = warning.orElse("");
        told.put(name, now);
        if (!now.isEmpty() && !now.equals(before)) {
            LOG.warn(now);
        } else if (now.isEmpty() && !before.isEmpty()) {
            LOG.info("The limit {} is in order again.", name);
        }
    }

    private Optional<String> disagreement(String name, ServiceLimits.Limit limit, DescribeTaskQueueResponse queue) {
        long own = limit.requestsPerMinute().map(Integer::longValue).orElse(UNLIMITED);
        String others = words(pollers(queue).filter(poller -> perMinute(poller) != own));
        return others.isEmpty()
                ? Optional.empty()
                : Optional.of("Workers state different limits for " + name + ": " + words(own) + " (this worker), "
                        + others + ". The server follows the one that asked last. " + sameFile());
    }

    private String sameFile() {
        return "Give all workers of the task queue " + taskQueue + " the same limits file.";
    }

    private static Stream<PollerInfo> pollers(DescribeTaskQueueResponse queue) {
        long since = Instant.now().getEpochSecond() - POLL_SECONDS;
        return queue.getPollersList().stream()
                .filter(poller -> poller.getLastAccessTime().getSeconds() >= since);
    }

    private static long perMinute(PollerInfo poller) {
        return Math.round(poller.getRatePerSecond() * SECONDS_PER_MINUTE);
    }

    private static String words(Stream<PollerInfo> pollers) {
        return pollers.map(poller -> words(perMinute(poller)) + " (" + poller.getIdentity() + ")")
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private static String words(long perMinute) {
        return perMinute == UNLIMITED ? "no requests_per_minute" : perMinute + " requests per minute";
    }

    private Optional<String> absence(String name, DescribeTaskQueueResponse queue) {
        String others = words(pollers(queue).filter(poller -> perMinute(poller) != UNLIMITED));
        if (!others.isEmpty()) {
            return Optional.of("Other workers limit " + name + ": " + others
                    + ". This worker does not, so that the service gets more requests than that. " + sameFile());
        }
        return queue.getStats().getApproximateBacklogCount() == 0
                        || pollers(queue).findAny().isPresent()
                ? Optional.empty()
                : Optional.of("Model calls wait in the task queue " + WireNames.limitedQueue(taskQueue, name)
                        + ", which no worker polls. Add this line to the limits file of a worker: \"" + name
                        + ": {}\"");
    }

    private DescribeTaskQueueResponse describe(String name) {
        return client.getWorkflowServiceStubs()
                .blockingStub()
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                .describeTaskQueue(DescribeTaskQueueRequest.newBuilder()
                        .setNamespace(client.getOptions().getNamespace())
                        .setTaskQueue(TaskQueue.newBuilder().setName(WireNames.limitedQueue(taskQueue, name)))
                        .setTaskQueueType(TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY)
                        .setReportStats(true)
                        .build());
    }

    @Override
    public void close() {
        schedule.shutdownNow();
    }
}
