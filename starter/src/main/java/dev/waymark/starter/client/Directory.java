package dev.waymark.starter.client;

import com.google.protobuf.ByteString;
import dev.waymark.connect.Connection;
import dev.waymark.contract.Names;
import dev.waymark.history.Histories;
import dev.waymark.history.Projector;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.filter.v1.StartTimeFilter;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.ListClosedWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListClosedWorkflowExecutionsResponse;
import io.temporal.api.workflowservice.v1.ListOpenWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListOpenWorkflowExecutionsResponse;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiFunction;

/** Lists the threads of a server, and projects many of them, a few at a time. */
final class Directory {
    private static final int PROJECTIONS_AT_ONCE = 4;

    private final Connection connection;
    private final Histories histories;

    Directory(Connection connection, Histories histories) {
        this.connection = connection;
        this.histories = histories;
    }

    /** A thread that is listed: its newest run, and whether that is open. */
    record Listed(String thread, String runId, boolean open) {}

    /** The threads, each once. The real server's list may lag a second behind. */
    List<Listed> threads(boolean openOnly) {
        Map<String, WorkflowExecutionInfo> newest = new LinkedHashMap<>();
        for (WorkflowExecutionInfo info : connection.isInMemory() ? inMemory(openOnly) : listed(openOnly)) {
            if (info.getType().getName().equals(Names.WORKFLOW_TYPE)) {
                newest.merge(info.getExecution().getWorkflowId(), info, Directory::newer);
            }
        }
        return newest.values().stream()
                .map(info -> new Listed(
                        info.getExecution().getWorkflowId(), info.getExecution().getRunId(), isOpen(info)))
                .toList();
    }

    /** Brings each thread to the present and reads something from it. One that is gone meanwhile is left out. */
    <T> List<T> project(
            Collection<Listed> threads, Progress progress, BiFunction<Listed, Projector, Optional<T>> reading) {
        ExecutorService pool = Executors.newFixedThreadPool(PROJECTIONS_AT_ONCE, task -> {
            Thread thread = new Thread(task, "waymark-projection");
            thread.setDaemon(true);
            return thread;
        });
        try {
            List<Future<Optional<T>>> futures = new ArrayList<>();
            for (Listed each : threads) {
                futures.add(pool.submit(() -> read(each, reading)));
            }
            List<T> found = new ArrayList<>();
            for (int i = 0; i < futures.size(); i++) {
                futures.get(i).get().ifPresent(found::add);
                progress.read(i + 1, futures.size());
            }
            return found;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while reading threads", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } finally {
            pool.shutdownNow();
        }
    }

    private <T> Optional<T> read(Listed each, BiFunction<Listed, Projector, Optional<T>> reading) {
        Projector projector = new Projector(each.runId(), moment -> {});
        try {
            histories.catchUp(each.thread(), projector);
        } catch (StatusRuntimeException e) {
            return switch (e.getStatus().getCode()) {
                case NOT_FOUND, INVALID_ARGUMENT -> Optional.empty();
                default -> throw e;
            };
        }
        return reading.apply(each, projector);
    }

    private List<WorkflowExecutionInfo> listed(boolean openOnly) {
        String query = "WorkflowType = '" + Names.WORKFLOW_TYPE + "' AND ExecutionStatus "
                + (openOnly ? "= 'Running'" : "!= 'ContinuedAsNew'");
        List<WorkflowExecutionInfo> infos = new ArrayList<>();
        ByteString token = ByteString.EMPTY;
        do {
            ListWorkflowExecutionsResponse page = connection
                    .stubs()
                    .blockingStub()
                    .listWorkflowExecutions(ListWorkflowExecutionsRequest.newBuilder()
                            .setNamespace(connection.namespace())
                            .setQuery(query)
                            .setNextPageToken(token)
                            .build());
            infos.addAll(page.getExecutionsList());
            token = page.getNextPageToken();
        } while (!token.isEmpty());
        return infos;
    }

    /** The in-memory server has no queries, and gives everything on one page. */
    private List<WorkflowExecutionInfo> inMemory(boolean openOnly) {
        ListOpenWorkflowExecutionsResponse open = connection
                .stubs()
                .blockingStub()
                .listOpenWorkflowExecutions(ListOpenWorkflowExecutionsRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setStartTimeFilter(StartTimeFilter.getDefaultInstance())
                        .build());
        List<WorkflowExecutionInfo> infos = new ArrayList<>(open.getExecutionsList());
        if (!openOnly) {
            ListClosedWorkflowExecutionsResponse closed = connection
                    .stubs()
                    .blockingStub()
                    .listClosedWorkflowExecutions(ListClosedWorkflowExecutionsRequest.newBuilder()
                            .setNamespace(connection.namespace())
                            .setStartTimeFilter(StartTimeFilter.getDefaultInstance())
                            .build());
            infos.addAll(closed.getExecutionsList());
        }
        return infos;
    }

    private static WorkflowExecutionInfo newer(WorkflowExecutionInfo one, WorkflowExecutionInfo other) {
        if (isOpen(one) != isOpen(other)) {
            return isOpen(one) ? one : other;
        }
        long difference = one.getStartTime().getSeconds() - other.getStartTime().getSeconds();
        long nanos = difference == 0
                ? one.getStartTime().getNanos() - other.getStartTime().getNanos()
                : difference;
        return nanos >= 0 ? one : other;
    }

    private static boolean isOpen(WorkflowExecutionInfo info) {
        return info.getStatus() == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
    }
}
