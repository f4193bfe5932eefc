package dev.waymark.client.list;

import dev.waymark.agent.AgentList;
import dev.waymark.connect.Connection;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.AgentListWorkflow;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agents that the workers of a task queue report. Asks a worker with a short workflow, if the last answer is older
 * than half a minute. If no worker answers in three seconds, the last answer applies; before the first one, the list is
 * empty. Thread-safe.
 */
public final class ReportedAgents {
    private static final Logger LOG = LoggerFactory.getLogger(ReportedAgents.class);
    private static final Duration FRESH = Duration.ofSeconds(30);

    /** After a failure. The worker may be starting. */
    private static final Duration ASK_AGAIN_AFTER = Duration.ofSeconds(5);

    private final Connection connection;
    private final String taskQueue;
    private volatile List<AgentList.Entry> newest = List.of();
    private CompletableFuture<Void> asking = CompletableFuture.completedFuture(null);
    private long askAgainAt = System.nanoTime();

    public ReportedAgents(Connection connection, String taskQueue) {
        this.connection = connection;
        this.taskQueue = taskQueue;
    }

    /** Returns the agents, in the order of the worker's files. Waits at most three seconds, and never fails. */
    public List<AgentList.Entry> agents() {
        try {
            asking().get(AgentListWorkflow.MOST_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            LOG.debug("No worker of {} has reported its agents", taskQueue, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return newest;
    }

    /** Why threads of an agent may find no worker, according to the workers; empty if a worker has the agent. */
    public Optional<String> warning(String agent) {
        return agents().stream().anyMatch(known -> known.name().equals(agent))
                ? Optional.empty()
                : Optional.of("no worker has reported an agent " + agent
                        + ": its threads will fail or wait until one has it");
    }

    /**
     * The request to the workers that is under way, or the last one, while its answer is fresh. It has its own thread,
     * because the SDK may retry for a minute to reach a server that is down.
     */
    private synchronized CompletableFuture<Void> asking() {
        if (asking.isDone() && System.nanoTime() - askAgainAt >= 0) {
            asking = CompletableFuture.runAsync(this::ask, ReportedAgents::inBackground);
        }
        return asking;
    }

    private static void inBackground(Runnable task) {
        DaemonThreads.start("waymark-agents", task);
    }

    private void ask() {
        Duration pause = ASK_AGAIN_AFTER;
        try {
            newest = report().agents();
            pause = FRESH;
        } finally {
            synchronized (this) {
                askAgainAt = System.nanoTime() + pause.toNanos();
            }
        }
    }

    private AgentList report() {
        WorkflowOptions options = WorkflowOptions.newBuilder()
                .setTaskQueue(taskQueue)
                .setWorkflowId("waymark-agents-" + UUID.randomUUID())
                .setWorkflowExecutionTimeout(Duration.ofSeconds(AgentListWorkflow.MOST_SECONDS))
                .build();
        WorkflowStub workflow = connection.client().newUntypedWorkflowStub(WireNames.AGENTS_TYPE, options);
        workflow.start();
        return workflow.getResult(AgentList.class);
    }
}
