package dev.waymark.history;

import io.temporal.api.common.v1.Payloads;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.TimeoutType;
import io.temporal.api.failure.v1.Failure;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.common.converter.DataConverter;
import io.temporal.failure.CanceledFailure;
import io.temporal.failure.TerminatedFailure;
import io.temporal.failure.TimeoutFailure;
import java.util.Optional;

/**
 * The event that closes an activity or a child workflow, with the failure that the SDK throws for it.
 *
 * @param begunBy the id of the event that scheduled or initiated the work
 * @param result the result of the work; empty if it failed
 */
record WorkClosing(long begunBy, Optional<Payloads> result, Optional<RuntimeException> failure) {
    static WorkClosing of(HistoryEvent event, DataConverter converter) {
        switch (event.getEventType()) {
            case EVENT_TYPE_ACTIVITY_TASK_COMPLETED -> {
                var closed = event.getActivityTaskCompletedEventAttributes();
                return completed(closed.getScheduledEventId(), closed.getResult());
            }
            case EVENT_TYPE_ACTIVITY_TASK_FAILED -> {
                var closed = event.getActivityTaskFailedEventAttributes();
                return failed(closed.getScheduledEventId(), exception(closed.getFailure(), converter));
            }
            case EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT -> {
                var closed = event.getActivityTaskTimedOutEventAttributes();
                return failed(closed.getScheduledEventId(), exception(closed.getFailure(), converter));
            }
            case EVENT_TYPE_ACTIVITY_TASK_CANCELED -> {
                var closed = event.getActivityTaskCanceledEventAttributes();
                return failed(closed.getScheduledEventId(), new CanceledFailure("cancelled"));
            }
            case EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED -> {
                var closed = event.getStartChildWorkflowExecutionFailedEventAttributes();
                WorkflowExecution child = WorkflowExecution.newBuilder()
                        .setWorkflowId(closed.getWorkflowId())
                        .build();
                return failed(
                        closed.getInitiatedEventId(),
                        new WorkflowExecutionAlreadyStarted(
                                child, closed.getWorkflowType().getName(), null));
            }
            case EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED -> {
                var closed = event.getChildWorkflowExecutionCompletedEventAttributes();
                return completed(closed.getInitiatedEventId(), closed.getResult());
            }
            case EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED -> {
                var closed = event.getChildWorkflowExecutionFailedEventAttributes();
                return failed(closed.getInitiatedEventId(), exception(closed.getFailure(), converter));
            }
            case EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED -> {
                var closed = event.getChildWorkflowExecutionCanceledEventAttributes();
                return failed(closed.getInitiatedEventId(), new CanceledFailure("cancelled"));
            }
            case EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED -> {
                var closed = event.getChildWorkflowExecutionTerminatedEventAttributes();
                return failed(closed.getInitiatedEventId(), new TerminatedFailure("terminated", null));
            }
            case EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT -> {
                var closed = event.getChildWorkflowExecutionTimedOutEventAttributes();
                return failed(
                        closed.getInitiatedEventId(),
                        new TimeoutFailure("timed out", null, TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE));
            }
            default ->
                throw new IllegalArgumentException(
                        event.getEventType() + " does not close an activity or a child workflow");
        }
    }

    private static WorkClosing completed(long begunBy, Payloads result) {
        return new WorkClosing(begunBy, Optional.of(result), Optional.empty());
    }

    private static WorkClosing failed(long begunBy, RuntimeException failure) {
        return new WorkClosing(begunBy, Optional.empty(), Optional.of(failure));
    }

    private static RuntimeException exception(Failure failure, DataConverter converter) {
        return converter.failureToException(failure);
    }
}
