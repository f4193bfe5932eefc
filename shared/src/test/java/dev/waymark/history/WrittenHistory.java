package dev.waymark.history;

import dev.waymark.contract.PayloadJson;
import io.temporal.api.common.v1.ActivityType;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.ActivityTaskCompletedEventAttributes;
import io.temporal.api.history.v1.ActivityTaskScheduledEventAttributes;
import io.temporal.api.history.v1.History;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.history.v1.WorkflowExecutionContinuedAsNewEventAttributes;
import io.temporal.api.history.v1.WorkflowExecutionSignaledEventAttributes;
import io.temporal.api.history.v1.WorkflowExecutionStartedEventAttributes;
import io.temporal.api.history.v1.WorkflowTaskCompletedEventAttributes;
import io.temporal.common.converter.DataConverter;
import java.util.ArrayList;
import java.util.List;

/** A history that a test writes event by event, as a server would. */
final class WrittenHistory {
    private final List<HistoryEvent> events = new ArrayList<>();
    private DataConverter converter = PayloadJson.dataConverter();

    /** Writes all following payloads with this converter. */
    WrittenHistory writtenWith(DataConverter other) {
        converter = other;
        return this;
    }

    WrittenHistory started(Object input) {
        return startedAfter("", input);
    }

    WrittenHistory startedAfter(String previousRunId, Object input) {
        return add(HistoryEvent.newBuilder()
                .setEventType(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED)
                .setWorkflowExecutionStartedEventAttributes(WorkflowExecutionStartedEventAttributes.newBuilder()
                        .setContinuedExecutionRunId(previousRunId)
                        .setInput(payloads(input))));
    }

    /** Adds a workflow task that no worker has started. */
    WrittenHistory taskScheduled() {
        return add(HistoryEvent.newBuilder().setEventType(EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED));
    }

    WrittenHistory taskStarted() {
        return add(HistoryEvent.newBuilder().setEventType(EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED));
    }

    WrittenHistory taskCompleted() {
        return add(HistoryEvent.newBuilder()
                .setEventType(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
                .setWorkflowTaskCompletedEventAttributes(
                        WorkflowTaskCompletedEventAttributes.newBuilder().setStartedEventId(events.size())));
    }

    WrittenHistory task() {
        return taskScheduled().taskStarted().taskCompleted();
    }

    WrittenHistory activityScheduled(String type, Object input) {
        return add(HistoryEvent.newBuilder()
                .setEventType(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
                .setActivityTaskScheduledEventAttributes(ActivityTaskScheduledEventAttributes.newBuilder()
                        .setActivityType(ActivityType.newBuilder().setName(type))
                        .setInput(payloads(input))));
    }

    /** Completes the activity that the previous event scheduled. */
    WrittenHistory activityCompleted(Object result) {
        return activityCompleted(events.size(), result);
    }

    /** Completes the activity that this event scheduled. */
    WrittenHistory activityCompleted(long scheduled, Object result) {
        return add(HistoryEvent.newBuilder()
                .setEventType(EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
                .setActivityTaskCompletedEventAttributes(ActivityTaskCompletedEventAttributes.newBuilder()
                        .setScheduledEventId(scheduled)
                        .setResult(payloads(result))));
    }

    WrittenHistory signalled(String name, Object payload) {
        return add(HistoryEvent.newBuilder()
                .setEventType(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
                .setWorkflowExecutionSignaledEventAttributes(WorkflowExecutionSignaledEventAttributes.newBuilder()
                        .setSignalName(name)
                        .setInput(payloads(payload))));
    }

    WrittenHistory terminated() {
        return add(HistoryEvent.newBuilder().setEventType(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED));
    }

    WrittenHistory continuedAsNew(String nextRunId) {
        return add(HistoryEvent.newBuilder()
                .setEventType(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW)
                .setWorkflowExecutionContinuedAsNewEventAttributes(
                        WorkflowExecutionContinuedAsNewEventAttributes.newBuilder()
                                .setNewExecutionRunId(nextRunId)));
    }

    History history() {
        return History.newBuilder().addAllEvents(events).build();
    }

    Projector projected() {
        Projector projector = new Projector("run-1", moment -> {});
        events.forEach(projector::accept);
        return projector;
    }

    private WrittenHistory add(HistoryEvent.Builder event) {
        events.add(event.setEventId(events.size() + 1L).build());
        return this;
    }

    private Payloads payloads(Object value) {
        return converter.toPayloads(value).orElseThrow();
    }
}
