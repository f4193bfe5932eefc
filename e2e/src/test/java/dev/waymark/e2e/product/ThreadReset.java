package dev.waymark.e2e.product;

import dev.waymark.connect.Connection;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.ResetReapplyExcludeType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.ResetWorkflowExecutionRequest;
import java.util.List;
import java.util.UUID;

/** Resets threads, as {@code temporal workflow reset} does. */
public final class ThreadReset {
    private ThreadReset() {}

    /** The events that completed a workflow task in the newest run of the thread, oldest first. */
    public static List<Long> completedTasks(Connection connection, String thread) {
        return connection
                .stubs()
                .blockingStub()
                .getWorkflowExecutionHistory(GetWorkflowExecutionHistoryRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setExecution(execution(thread))
                        .build())
                .getHistory()
                .getEventsList()
                .stream()
                .filter(event -> event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                .map(HistoryEvent::getEventId)
                .toList();
    }

    /** @param leftOut which later messages the reset does not apply again */
    public static void to(Connection connection, String thread, long task, ResetReapplyExcludeType... leftOut) {
        connection
                .stubs()
                .blockingStub()
                .resetWorkflowExecution(ResetWorkflowExecutionRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setWorkflowExecution(execution(thread))
                        .setWorkflowTaskFinishEventId(task)
                        .addAllResetReapplyExcludeTypes(List.of(leftOut))
                        .setRequestId(UUID.randomUUID().toString())
                        .setReason("a test")
                        .build());
    }

    private static WorkflowExecution execution(String thread) {
        return WorkflowExecution.newBuilder().setWorkflowId(thread).build();
    }
}
