package dev.waymark.worker.journal;

import com.google.protobuf.ByteString;
import dev.waymark.connect.DaemonThreads;
import dev.waymark.connect.RequestRetry;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.worker.activity.StickyTasks;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.PendingActivityState;
import io.temporal.api.failure.v1.ApplicationFailureInfo;
import io.temporal.api.failure.v1.Failure;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.RespondActivityTaskFailedRequest;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc.WorkflowServiceBlockingStub;
import io.temporal.client.WorkflowClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the claimed calls of workers of this host that were killed, so that their threads need not wait until the
 * server misses the heartbeats. Ends exactly the attempt that the killed worker executed: if the server knows of
 * another one, or of none, the report changes nothing.
 */
public final class EndedWorkers {
    private static final Logger LOG = LoggerFactory.getLogger(EndedWorkers.class);

    private static final String MESSAGE = "its worker has ended";

    /** After a longer outage, the server itself treats the worker as lost. */
    private static final RequestRetry RETRY =
            RequestRetry.every(Duration.ofMillis(200), Duration.ofSeconds(20), ServerAnswer::mayPass);

    /**
     * Longer than the pause between two heartbeats. In this time, a worker that is alive after all, such as the
     * original of a copied virtual machine, sends one.
     */
    private static final Duration HEARTBEAT = Duration.ofMillis(1_500);

    private static final int MOST_REQUESTS = 16;

    private final WorkflowClient client;
    private final StickyTasks stickyTasks;

    public EndedWorkers(WorkflowClient client) {
        this.client = client;
        this.stickyTasks = new StickyTasks(client);
    }

    /** Opens the journal in this directory, and reports the calls of ended workers in the background. */
    public void reportFrom(ClaimJournal journal, Path directory) {
        List<ClaimJournal.Left> left = journal.open(directory);
        if (left.isEmpty()) {
            return;
        }
        ExecutorService requests = Executors.newFixedThreadPool(
                Math.min(left.size(), MOST_REQUESTS), DaemonThreads.named("ended-workers"));
        left.forEach(each -> requests.execute(() -> report(each)));
        requests.shutdown();
    }

    /** Reports the end of one call, unless the server has another attempt of it, or gets a heartbeat. */
    void report(ClaimJournal.Left left) {
        ClaimNote note = left.note();
        try {
            Optional<PendingActivityInfo> before = pending(note);
            awaitHeartbeat(left.knownAt());
            // A difference means that the worker is alive, or that the server has noticed its end.
            if (before.isPresent() && before.equals(pending(note))) {
                stickyTasks.release(run(note));
                RETRY.send(most -> end(note, most));
                LOG.info("thread {}: reported that the worker of call {} has ended", note.thread(), note.call());
            }
            left.delete();
        } catch (StatusRuntimeException e) {
            LOG.debug("thread {}: the end of call {} is not reported: {}", note.thread(), note.call(), e.getStatus());
            if (ServerAnswer.of(e) == ServerAnswer.GONE) {
                left.delete();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitHeartbeat(long since) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(since + HEARTBEAT.toNanos() - System.nanoTime());
    }

    /** The attempt that the ended worker executed, with its last heartbeat, if the server still waits for it. */
    private Optional<PendingActivityInfo> pending(ClaimNote note) throws InterruptedException {
        DescribeWorkflowExecutionRequest request = DescribeWorkflowExecutionRequest.newBuilder()
                .setNamespace(client.getOptions().getNamespace())
                .setExecution(run(note))
                .build();
        return RETRY.send(most -> stub(most).describeWorkflowExecution(request)).getPendingActivitiesList().stream()
                .filter(activity -> activity.getActivityId().equals(note.activity())
                        && activity.getAttempt() == note.attempt()
                        && activity.getState() == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED)
                .findFirst();
    }

    private Object end(ClaimNote note, long most) {
        return stub(most)
                .respondActivityTaskFailed(RespondActivityTaskFailedRequest.newBuilder()
                        .setNamespace(client.getOptions().getNamespace())
                        .setIdentity(client.getOptions().getIdentity())
                        .setTaskToken(ByteString.copyFrom(note.token()))
                        .setFailure(Failure.newBuilder()
                                .setMessage(MESSAGE)
                                .setApplicationFailureInfo(ApplicationFailureInfo.newBuilder()
                                        .setType(ProblemType.WORKER_ENDED)
                                        .setNonRetryable(true)))
                        .build());
    }

    private static WorkflowExecution run(ClaimNote note) {
        return WorkflowExecution.newBuilder()
                .setWorkflowId(note.thread())
                .setRunId(note.run())
                .build();
    }

    private WorkflowServiceBlockingStub stub(long millis) {
        return client.getWorkflowServiceStubs().blockingStub().withDeadlineAfter(millis, TimeUnit.MILLISECONDS);
    }
}
