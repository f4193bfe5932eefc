package dev.waymark.worker.activity;

import io.temporal.activity.ActivityExecutionContext;
import io.temporal.activity.ActivityInfo;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.common.interceptors.ActivityInboundCallsInterceptor;
import io.temporal.common.interceptors.ActivityInboundCallsInterceptorBase;
import io.temporal.common.interceptors.WorkerInterceptorBase;

/**
 * When an activity is retried because its worker was lost, lets any worker continue its thread, instead of letting the
 * server wait for the lost one. Clears what the previous activity of this Java thread left for the log.
 */
public final class TakenOverActivities extends WorkerInterceptorBase {
    @Override
    public ActivityInboundCallsInterceptor interceptActivity(ActivityInboundCallsInterceptor next) {
        return new ActivityInboundCallsInterceptorBase(next) {
            @Override
            public void init(ActivityExecutionContext context) {
                CallLog.clear();
                ActivityInfo info = context.getInfo();
                if (info.getAttempt() > 1) {
                    new StickyTasks(context.getWorkflowClient())
                            .releaseIfLost(
                                    WorkflowExecution.newBuilder()
                                            .setWorkflowId(info.getWorkflowId())
                                            .setRunId(info.getWorkflowRunId())
                                            .build(),
                                    info.getActivityId());
                }
                super.init(context);
            }
        };
    }
}
