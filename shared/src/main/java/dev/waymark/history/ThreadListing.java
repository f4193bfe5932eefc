package dev.waymark.history;

import com.google.protobuf.ByteString;
import dev.waymark.contract.WireNames;
import io.temporal.api.filter.v1.StartTimeFilter;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.ListClosedWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListOpenWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse;
import io.temporal.serviceclient.WorkflowServiceStubs;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/** Lists the runs of threads that a server knows. The real server's list may lag a second behind. */
public final class ThreadListing {
    /** The condition for open threads. */
    public static final String IS_OPEN = "ExecutionStatus = 'Running'";

    /** The condition for runs that have not continued as new. */
    public static final String IS_LAST_RUN = "ExecutionStatus != 'ContinuedAsNew'";

    /** Lets the server choose the size of a page. */
    private static final int SERVERS_CHOICE = 0;

    private final WorkflowServiceStubs stubs;
    private final String namespace;

    public ThreadListing(WorkflowServiceStubs stubs, String namespace) {
        this.stubs = stubs;
        this.namespace = namespace;
    }

    /** The condition for threads that are open, or that started after this time and have closed since. */
    public static String openOrStartedAfter(Instant time) {
        return "(" + IS_OPEN + " OR (StartTime > '" + time.truncatedTo(ChronoUnit.MILLIS) + "' AND " + IS_LAST_RUN
                + "))";
    }

    /** One page of the runs that match a condition of a visibility query. */
    public ListWorkflowExecutionsResponse page(String condition, int size, ByteString token) {
        return stubs.blockingStub()
                .listWorkflowExecutions(ListWorkflowExecutionsRequest.newBuilder()
                        .setNamespace(namespace)
                        .setQuery("WorkflowType = '" + WireNames.WORKFLOW_TYPE + "' AND " + condition)
                        .setPageSize(size)
                        .setNextPageToken(token)
                        .build());
    }

    /** All runs that match a condition of a visibility query. */
    public List<WorkflowExecutionInfo> all(String condition) {
        List<WorkflowExecutionInfo> infos = new ArrayList<>();
        ByteString token = ByteString.EMPTY;
        do {
            ListWorkflowExecutionsResponse page = page(condition, SERVERS_CHOICE, token);
            infos.addAll(page.getExecutionsList());
            token = page.getNextPageToken();
        } while (!token.isEmpty());
        return infos;
    }

    /**
     * The runs on the in-memory server, which does not support queries. It returns the runs of all workflows on one
     * page.
     */
    public List<WorkflowExecutionInfo> inMemory(boolean openOnly) {
        List<WorkflowExecutionInfo> infos = new ArrayList<>(stubs.blockingStub()
                .listOpenWorkflowExecutions(ListOpenWorkflowExecutionsRequest.newBuilder()
                        .setNamespace(namespace)
                        .setStartTimeFilter(StartTimeFilter.getDefaultInstance())
                        .build())
                .getExecutionsList());
        if (!openOnly) {
            infos.addAll(stubs.blockingStub()
                    .listClosedWorkflowExecutions(ListClosedWorkflowExecutionsRequest.newBuilder()
                            .setNamespace(namespace)
                            .setStartTimeFilter(StartTimeFilter.getDefaultInstance())
                            .build())
                    .getExecutionsList());
        }
        return infos.stream()
                .filter(info -> info.getType().getName().equals(WireNames.WORKFLOW_TYPE))
                .toList();
    }
}
