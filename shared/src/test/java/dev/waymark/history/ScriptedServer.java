package dev.waymark.history;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoResponse;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A server with one thread whose runs are given in advance. Its newest run can change while the thread is read. */
final class ScriptedServer extends WorkflowServiceGrpc.WorkflowServiceImplBase implements AutoCloseable {
    private final Map<String, WrittenHistory> runs = new HashMap<>();
    private final Deque<String> newest = new ArrayDeque<>();
    private final List<String> read = Collections.synchronizedList(new ArrayList<>());
    private final Server server;
    private final ManagedChannel channel;
    private final WorkflowServiceStubs stubs;

    ScriptedServer() {
        String name = InProcessServerBuilder.generateName();
        try {
            server = InProcessServerBuilder.forName(name)
                    .addService(this)
                    .build()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        channel = InProcessChannelBuilder.forName(name).build();
        stubs = WorkflowServiceStubs.newServiceStubs(
                WorkflowServiceStubsOptions.newBuilder().setChannel(channel).build());
    }

    WorkflowServiceStubs stubs() {
        return stubs;
    }

    ScriptedServer run(String runId, WrittenHistory history) {
        runs.put(runId, history);
        return this;
    }

    /** Sets the runs that successive requests find to be the newest. The last one applies to all further requests. */
    ScriptedServer newestIs(String... runIds) {
        newest.addAll(List.of(runIds));
        return this;
    }

    /** Returns how often this run's history was requested. */
    int reads(String runId) {
        return Collections.frequency(read, runId);
    }

    @Override
    public void getSystemInfo(GetSystemInfoRequest request, StreamObserver<GetSystemInfoResponse> caller) {
        answer(caller, GetSystemInfoResponse.getDefaultInstance());
    }

    @Override
    public void describeWorkflowExecution(
            DescribeWorkflowExecutionRequest request, StreamObserver<DescribeWorkflowExecutionResponse> caller) {
        String runId = newest.size() > 1 ? newest.remove() : newest.element();
        answer(
                caller,
                DescribeWorkflowExecutionResponse.newBuilder()
                        .setWorkflowExecutionInfo(WorkflowExecutionInfo.newBuilder()
                                .setExecution(WorkflowExecution.newBuilder().setRunId(runId)))
                        .build());
    }

    @Override
    public void getWorkflowExecutionHistory(
            GetWorkflowExecutionHistoryRequest request, StreamObserver<GetWorkflowExecutionHistoryResponse> caller) {
        read.add(request.getExecution().getRunId());
        answer(
                caller,
                GetWorkflowExecutionHistoryResponse.newBuilder()
                        .setHistory(runs.get(request.getExecution().getRunId()).history())
                        .build());
    }

    private static <T> void answer(StreamObserver<T> caller, T response) {
        caller.onNext(response);
        caller.onCompleted();
    }

    @Override
    public void close() {
        stubs.shutdownNow();
        channel.shutdownNow();
        server.shutdownNow();
    }
}
