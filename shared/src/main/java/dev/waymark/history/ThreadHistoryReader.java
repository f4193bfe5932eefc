package dev.waymark.history;

import com.google.protobuf.ByteString;
import dev.waymark.contract.WireNames;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.filter.v1.StartTimeFilter;
import io.temporal.api.history.v1.History;
import io.temporal.api.workflowservice.v1.ListOpenWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse;
import io.temporal.client.WorkflowClient;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.serviceclient.WorkflowServiceStubs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Reads the events of whole threads from a server. Projects nothing, so it also reads what cannot be projected. */
public final class ThreadHistoryReader {
    private static final String OPEN =
            "WorkflowType = '" + WireNames.WORKFLOW_TYPE + "' AND ExecutionStatus = 'Running'";

    private final HistoryReader histories;

    private final WorkflowServiceStubs stubs;
    private final String namespace;

    public ThreadHistoryReader(WorkflowClient client) {
        this.histories = new HistoryReader(client);
        this.stubs = client.getWorkflowServiceStubs();
        this.namespace = client.getOptions().getNamespace();
    }

    /**
     * The ids of all open threads, subagents' included, sorted.
     *
     * @param filter a further condition of a visibility query; the in-memory server has none and ignores it
     */
    public List<String> open(Optional<String> filter) {
        Set<String> threads = new TreeSet<>();
        String query = OPEN + filter.map(more -> " AND (" + more + ")").orElse("");
        try {
            ByteString token = ByteString.EMPTY;
            do {
                ListWorkflowExecutionsResponse page = stubs.blockingStub()
                        .listWorkflowExecutions(ListWorkflowExecutionsRequest.newBuilder()
                                .setNamespace(namespace)
                                .setQuery(query)
                                .setNextPageToken(token)
                                .build());
                page.getExecutionsList()
                        .forEach(info -> threads.add(info.getExecution().getWorkflowId()));
                token = page.getNextPageToken();
            } while (!token.isEmpty());
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() != Status.Code.UNIMPLEMENTED) {
                throw e;
            }
            stubs
                    .blockingStub()
                    .listOpenWorkflowExecutions(ListOpenWorkflowExecutionsRequest.newBuilder()
                            .setNamespace(namespace)
                            .setStartTimeFilter(StartTimeFilter.getDefaultInstance())
                            .build())
                    .getExecutionsList()
                    .stream()
                    .filter(info -> info.getType().getName().equals(WireNames.WORKFLOW_TYPE))
                    .forEach(info -> threads.add(info.getExecution().getWorkflowId()));
        }
        return List.copyOf(threads);
    }

    /** The thread with all runs that the server still has, decoded; empty if it has none. */
    public Optional<ThreadHistory> read(String workflowId) {
        return histories.newestRun(workflowId).map(newest -> read(workflowId, newest));
    }

    private ThreadHistory read(String workflowId, String newestRunId) {
        List<ThreadHistory.Run> runs = new ArrayList<>();
        Optional<String> next = Optional.of(newestRunId);
        while (next.isPresent()) {
            String runId = next.get();
            History.Builder events = History.newBuilder();
            try {
                histories.forEach(workflowId, runId, events::addEvents);
            } catch (StatusRuntimeException e) {
                if (!HistoryReader.isNotFound(e) || runs.isEmpty()) {
                    throw e;
                }
                break;
            }
            WorkflowExecutionHistory history = new WorkflowExecutionHistory(events.build(), workflowId);
            runs.add(0, new ThreadHistory.Run(runId, history, Optional.empty()));
            next = Optional.of(events.getEvents(0)
                            .getWorkflowExecutionStartedEventAttributes()
                            .getContinuedExecutionRunId())
                    .filter(previous -> !previous.isEmpty());
        }
        return new ThreadHistory(workflowId, runs, histories.isEncrypted(workflowId, newestRunId));
    }
}
