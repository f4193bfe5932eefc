package dev.waymark.worker.activity;

import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.TimeoutType;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.ResetStickyTaskQueueRequest;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc.WorkflowServiceBlockingStub;
import io.temporal.client.WorkflowClient;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a thread's workflow tasks away from a lost worker. The server offers them for five seconds to the worker that
 * had the last one, also if that worker was killed a few seconds ago. Failures are only logged, because they cost no
 * more than these five seconds. Thread-safe.
 */
public final class StickyTasks {
    private static final Logger LOG = LoggerFactory.getLogger(StickyTasks.class);

    private static final int MOST_SECONDS = 1;

    private final WorkflowClient client;

    public StickyTasks(WorkflowClient client) {
        this.client = client;
    }

    /** Offers the workflow tasks of this run to all workers from now on. */
    public void release(WorkflowExecution run) {
        try {
            reset(run);
        } catch (StatusRuntimeException e) {
            LOG.debug("thread {} stays with its last worker: {}", run.getWorkflowId(), e.getStatus());
        }
    }

    /** Releases the workflow tasks if the previous attempt of this activity was lost with its worker. */
    void releaseIfLost(WorkflowExecution run, String activityId) {
        try {
            boolean isLost = stub()
                    .describeWorkflowExecution(DescribeWorkflowExecutionRequest.newBuilder()
                            .setNamespace(client.getOptions().getNamespace())
                            .setExecution(run)
                            .build())
                    .getPendingActivitiesList()
                    .stream()
                    .anyMatch(activity -> activity.getActivityId().equals(activityId) && wasLost(activity));
            if (isLost) {
                reset(run);
            }
        } catch (StatusRuntimeException e) {
            LOG.debug("thread {} stays with its last worker: {}", run.getWorkflowId(), e.getStatus());
        }
    }

    private static boolean wasLost(PendingActivityInfo activity) {
        return activity.getLastFailure().getTimeoutFailureInfo().getTimeoutType() == TimeoutType.TIMEOUT_TYPE_HEARTBEAT;
    }

    private void reset(WorkflowExecution run) {
        stub().resetStickyTaskQueue(ResetStickyTaskQueueRequest.newBuilder()
                .setNamespace(client.getOptions().getNamespace())
                .setExecution(run)
                .build());
    }

    private WorkflowServiceBlockingStub stub() {
        return client.getWorkflowServiceStubs().blockingStub().withDeadlineAfter(MOST_SECONDS, TimeUnit.SECONDS);
    }
}
