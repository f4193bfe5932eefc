package dev.waymark.client.connection;

import com.google.protobuf.ByteString;
import com.google.protobuf.Timestamp;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ServerAnswer;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.ThreadIndex;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.common.v1.WorkflowType;
import io.temporal.api.schedule.v1.Schedule;
import io.temporal.api.schedule.v1.ScheduleAction;
import io.temporal.api.schedule.v1.ScheduleListEntry;
import io.temporal.api.schedule.v1.SchedulePatch;
import io.temporal.api.sdk.v1.UserMetadata;
import io.temporal.api.taskqueue.v1.TaskQueue;
import io.temporal.api.workflow.v1.NewWorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.CreateScheduleRequest;
import io.temporal.api.workflowservice.v1.DeleteScheduleRequest;
import io.temporal.api.workflowservice.v1.DescribeScheduleRequest;
import io.temporal.api.workflowservice.v1.DescribeScheduleResponse;
import io.temporal.api.workflowservice.v1.ListScheduleMatchingTimesRequest;
import io.temporal.api.workflowservice.v1.ListSchedulesRequest;
import io.temporal.api.workflowservice.v1.ListSchedulesResponse;
import io.temporal.api.workflowservice.v1.PatchScheduleRequest;
import io.temporal.api.workflowservice.v1.UpdateScheduleRequest;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc.WorkflowServiceBlockingStub;
import io.temporal.common.Priority;
import io.temporal.common.converter.DataConverter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Sends requests about schedules to the Temporal server. */
public final class ScheduleRequests {
    private final Connection connection;
    private final String taskQueue;

    public ScheduleRequests(Connection connection, String taskQueue) {
        this.connection = connection;
        this.taskQueue = taskQueue;
    }

    /** Returns false if a schedule of this name exists. */
    public boolean create(String name, Schedule schedule) {
        try {
            stub().createSchedule(CreateScheduleRequest.newBuilder()
                    .setNamespace(connection.namespace())
                    .setScheduleId(name)
                    .setSchedule(schedule)
                    .setIdentity(connection.client().getOptions().getIdentity())
                    .setRequestId(UUID.randomUUID().toString())
                    .build());
            return true;
        } catch (StatusRuntimeException e) {
            if (ServerAnswer.TAKEN.is(e)) {
                return false;
            }
            throw e;
        }
    }

    /** Replaces a schedule, unless somebody else has changed it since it was described. */
    public void update(String name, Schedule schedule, ByteString conflictToken) {
        stub().updateSchedule(UpdateScheduleRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setScheduleId(name)
                .setSchedule(schedule)
                .setConflictToken(conflictToken)
                .setIdentity(connection.client().getOptions().getIdentity())
                .setRequestId(UUID.randomUUID().toString())
                .build());
    }

    /** Returns empty if there is no schedule of this name. */
    public Optional<DescribeScheduleResponse> describe(String name) {
        try {
            return Optional.of(stub().describeSchedule(DescribeScheduleRequest.newBuilder()
                    .setNamespace(connection.namespace())
                    .setScheduleId(name)
                    .build()));
        } catch (StatusRuntimeException e) {
            if (ServerAnswer.GONE.is(e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    public void patch(String name, SchedulePatch patch) {
        stub().patchSchedule(PatchScheduleRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setScheduleId(name)
                .setPatch(patch)
                .setIdentity(connection.client().getOptions().getIdentity())
                .setRequestId(UUID.randomUUID().toString())
                .build());
    }

    public void delete(String name) {
        stub().deleteSchedule(DeleteScheduleRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setScheduleId(name)
                .setIdentity(connection.client().getOptions().getIdentity())
                .build());
    }

    public ListSchedulesResponse page(int limit, ByteString token) {
        return stub().listSchedules(ListSchedulesRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setMaximumPageSize(limit)
                .setNextPageToken(token)
                .build());
    }

    /** Whether a listed schedule starts threads. */
    public static boolean isOfThreads(ScheduleListEntry entry) {
        return entry.getInfo().getWorkflowType().getName().equals(WireNames.WORKFLOW_TYPE);
    }

    /** At most {@code most} times of a schedule from one time to another, both included. */
    public List<Instant> times(String name, Instant from, Instant to, int most) {
        List<Instant> times = new ArrayList<>();
        Instant after = from.minusSeconds(1);
        while (times.size() < most) {
            List<Timestamp> page = stub().listScheduleMatchingTimes(ListScheduleMatchingTimesRequest.newBuilder()
                            .setNamespace(connection.namespace())
                            .setScheduleId(name)
                            .setStartTime(ServerTime.timestamp(after))
                            .setEndTime(ServerTime.timestamp(to))
                            .build())
                    .getStartTimeList();
            if (page.isEmpty()) {
                break;
            }
            page.stream().limit(most - times.size()).map(ServerTime::instant).forEach(times::add);
            after = times.get(times.size() - 1);
        }
        return times;
    }

    /** The action that starts a thread like {@link Requests#start}. The server adds the time to the thread's name. */
    public ScheduleAction action(String name, StartInput input) {
        DataConverter converter = PayloadJson.scheduleConverter(connection.client(), name);
        NewWorkflowExecutionInfo.Builder start = NewWorkflowExecutionInfo.newBuilder()
                .setWorkflowId(name)
                .setWorkflowType(WorkflowType.newBuilder().setName(WireNames.WORKFLOW_TYPE))
                .setTaskQueue(TaskQueue.newBuilder().setName(taskQueue))
                .setInput(converter.toPayloads(input).orElseThrow())
                .setUserMetadata(UserMetadata.newBuilder()
                        .setSummary(converter
                                .toPayload(Requests.summary(input.agent()))
                                .orElseThrow()));
        Priority share = connection.fairShares().of(input.owner(), input.agent());
        start.setPriority(io.temporal.api.common.v1.Priority.newBuilder()
                .setFairnessKey(share.getFairnessKey())
                .setFairnessWeight(share.getFairnessWeight()));
        if (connection.isIndexed()) {
            start.setSearchAttributes(ThreadIndex.starting(input.agent()).encoded());
        }
        return ScheduleAction.newBuilder().setStartWorkflow(start).build();
    }

    /** Whether a schedule starts threads. */
    public static boolean isOfThreads(Schedule schedule) {
        return schedule.getAction()
                .getStartWorkflow()
                .getWorkflowType()
                .getName()
                .equals(WireNames.WORKFLOW_TYPE);
    }

    /** The input of the threads that a schedule starts. */
    public StartInput input(String name, Schedule schedule) {
        Payloads input = schedule.getAction().getStartWorkflow().getInput();
        return PayloadJson.read(
                PayloadJson.scheduleConverter(connection.client(), name), input, StartInput.class, "the schedule");
    }

    private WorkflowServiceBlockingStub stub() {
        return connection.stubs().blockingStub();
    }
}
