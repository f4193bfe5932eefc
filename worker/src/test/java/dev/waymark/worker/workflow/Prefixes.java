package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.waymark.contract.StateDigest;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.conversation.Conversation;
import dev.waymark.history.Projector;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.History;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowClient;
import io.temporal.internal.common.WorkflowExecutionHistory;
import io.temporal.internal.worker.SyncWorkflowWorker;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import java.lang.reflect.Field;
import java.util.List;

/**
 * Compares workflow and projection after every completed workflow task of a run: the workflow is replayed up to that
 * task and queried for its state, and the projector gets the same events.
 *
 * <p>Querying a replay uses an internal mechanism of the SDK, because there is no public API for it.
 */
final class Prefixes {
    private Prefixes() {}

    /** Returns the number of prefixes that were compared. */
    static int check(WorkflowClient client, io.temporal.common.WorkflowExecutionHistory history) {
        List<HistoryEvent> events = history.getEvents();
        int compared = 0;
        for (int i = 0; i < events.size(); i++) {
            if (events.get(i).getEventType() != EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) {
                continue;
            }
            long completed = events.get(i).getEventId();
            int end = i + 1;
            while (end < events.size() && isCommandOf(events.get(end), completed)) {
                end++;
            }
            HistoryEvent last = events.get(end - 1);
            if (isClosing(last)) {
                break; // A closed run does not answer queries in the middle of its last task.
            }
            List<HistoryEvent> prefix = events.subList(0, end);
            Projector projector = new Projector("run", moment -> {});
            prefix.forEach(projector::accept);
            Conversation projected = projector.state().orElseThrow();
            StateReport replayed = replay(client, prefix);
            assertThat(replayed)
                    .describedAs("after the workflow task that completed with event %s", completed)
                    .isEqualTo(new StateReport(
                            projected.transcript().digest(),
                            projector.taskStartedId(),
                            projected.rules(),
                            StateDigest.of(projected),
                            projected.counters().facts()));
            compared++;
        }
        return compared;
    }

    @SuppressWarnings("deprecation") // The only way to query a history without a server.
    private static StateReport replay(WorkflowClient client, List<HistoryEvent> prefix) {
        WorkerFactory factory = WorkerFactory.newInstance(client);
        Worker worker = factory.newWorker("replay-only");
        worker.registerWorkflowImplementationTypes(AgentWorkflowImpl.class);
        try {
            Field field = Worker.class.getDeclaredField("workflowWorker");
            field.setAccessible(true);
            return ((SyncWorkflowWorker) field.get(worker))
                    .queryWorkflowExecution(
                            new WorkflowExecutionHistory(
                                    History.newBuilder().addAllEvents(prefix).build()),
                            WireNames.STATE_QUERY,
                            StateReport.class,
                            StateReport.class,
                            new Object[0]);
        } catch (Exception e) {
            throw new AssertionError("the first " + prefix.size() + " events do not replay", e);
        } finally {
            factory.shutdownNow();
        }
    }

    private static boolean isCommandOf(HistoryEvent event, long completed) {
        for (Message attributes : attributes(event)) {
            FieldDescriptor field =
                    attributes.getDescriptorForType().findFieldByName("workflow_task_completed_event_id");
            if (field != null && attributes.getField(field).equals(completed)) {
                return true;
            }
        }
        return event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED
                || event.getEventType() == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED;
    }

    private static List<Message> attributes(HistoryEvent event) {
        return event.getAllFields().values().stream()
                .filter(Message.class::isInstance)
                .map(Message.class::cast)
                .toList();
    }

    private static boolean isClosing(HistoryEvent event) {
        return switch (event.getEventType()) {
            case EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
                    EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
                    EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
                    EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW -> true;
            default -> false;
        };
    }
}
