package dev.waymark.worker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.util.Durations;
import dev.waymark.connect.Connection;
import io.grpc.StatusRuntimeException;
import io.temporal.api.command.v1.Command;
import io.temporal.api.command.v1.RequestCancelActivityTaskCommandAttributes;
import io.temporal.api.command.v1.ScheduleActivityTaskCommandAttributes;
import io.temporal.api.common.v1.ActivityType;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.common.v1.WorkflowType;
import io.temporal.api.enums.v1.CommandType;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.taskqueue.v1.TaskQueue;
import io.temporal.api.workflowservice.v1.PollActivityTaskQueueRequest;
import io.temporal.api.workflowservice.v1.PollActivityTaskQueueResponse;
import io.temporal.api.workflowservice.v1.PollWorkflowTaskQueueRequest;
import io.temporal.api.workflowservice.v1.PollWorkflowTaskQueueResponse;
import io.temporal.api.workflowservice.v1.RespondActivityTaskCompletedRequest;
import io.temporal.api.workflowservice.v1.RespondWorkflowTaskCompletedRequest;
import io.temporal.api.workflowservice.v1.SignalWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.StartWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc.WorkflowServiceBlockingStub;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Plays the worker by hand, because only then is the order of requests certain. */
class LateCancellationsTest {
    private static final TaskQueue QUEUE =
            TaskQueue.newBuilder().setName("by-hand").build();
    private static final long ACTIVITY = 5;

    private InMemoryServer server;
    private Connection connection;
    private WorkflowServiceBlockingStub stub;

    @BeforeEach
    void start() throws Exception {
        server = InMemoryServer.start(0);
        connection = Connection.to(server.address());
        stub = connection.stubs().blockingStub();
        stub.startWorkflowExecution(StartWorkflowExecutionRequest.newBuilder()
                .setNamespace("default")
                .setRequestId("start")
                .setWorkflowId("w")
                .setWorkflowType(WorkflowType.newBuilder().setName("W"))
                .setTaskQueue(QUEUE)
                .build());
        complete(
                nextTask(),
                Command.newBuilder()
                        .setCommandType(CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK)
                        .setScheduleActivityTaskCommandAttributes(ScheduleActivityTaskCommandAttributes.newBuilder()
                                .setActivityId("a")
                                .setActivityType(ActivityType.newBuilder().setName("A"))
                                .setTaskQueue(QUEUE)
                                .setScheduleToCloseTimeout(Durations.fromMinutes(5))
                                .setStartToCloseTimeout(Durations.fromMinutes(5)))
                        .build());
        stub.signalWorkflowExecution(SignalWorkflowExecutionRequest.newBuilder()
                .setNamespace("default")
                .setWorkflowExecution(WorkflowExecution.newBuilder().setWorkflowId("w"))
                .setSignalName("stop")
                .build());
    }

    @AfterEach
    void stop() {
        connection.close();
        server.close();
    }

    @Test
    void cancellation_ofAClosedActivity_getsANewTask() {
        PollActivityTaskQueueResponse activity = nextActivity();
        ByteString task = nextTask().getTaskToken();
        stub.respondActivityTaskCompleted(RespondActivityTaskCompletedRequest.newBuilder()
                .setNamespace("default")
                .setTaskToken(activity.getTaskToken())
                .build());

        assertThatThrownBy(() -> complete(task, cancellation()))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("UnhandledCommand");

        assertThat(nextTask().getHistory().getEventsList())
                .extracting(HistoryEvent::getEventType)
                .contains(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
                .doesNotContain(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED);
    }

    @Test
    void cancellation_ofAnOpenActivity_isAccepted() {
        nextActivity();

        complete(nextTask(), cancellation());

        assertThat(connection.client().fetchHistory("w").getEvents())
                .extracting(HistoryEvent::getEventType)
                .contains(EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED)
                .doesNotContain(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED);
    }

    private static Command cancellation() {
        return Command.newBuilder()
                .setCommandType(CommandType.COMMAND_TYPE_REQUEST_CANCEL_ACTIVITY_TASK)
                .setRequestCancelActivityTaskCommandAttributes(
                        RequestCancelActivityTaskCommandAttributes.newBuilder().setScheduledEventId(ACTIVITY))
                .build();
    }

    private PollWorkflowTaskQueueResponse nextTask() {
        return stub.pollWorkflowTaskQueue(PollWorkflowTaskQueueRequest.newBuilder()
                .setNamespace("default")
                .setTaskQueue(QUEUE)
                .build());
    }

    private PollActivityTaskQueueResponse nextActivity() {
        return stub.pollActivityTaskQueue(PollActivityTaskQueueRequest.newBuilder()
                .setNamespace("default")
                .setTaskQueue(QUEUE)
                .build());
    }

    private void complete(PollWorkflowTaskQueueResponse task, Command command) {
        complete(task.getTaskToken(), command);
    }

    private void complete(ByteString task, Command command) {
        stub.respondWorkflowTaskCompleted(RespondWorkflowTaskCompletedRequest.newBuilder()
                .setNamespace("default")
                .setTaskToken(task)
                .addCommands(command)
                .build());
    }
}
