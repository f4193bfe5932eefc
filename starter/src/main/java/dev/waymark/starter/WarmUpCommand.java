package dev.waymark.starter;

import dev.waymark.cli.ExitCode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.document.JsonDocuments;
import dev.waymark.client.list.PendingPage;
import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.request.Prompt;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.history.Timeline;
import dev.waymark.starter.connection.ConnectionOptions;
import dev.waymark.starter.options.SlowProgress;
import dev.waymark.starter.render.OutcomeRenderer;
import dev.waymark.starter.render.Output;
import dev.waymark.starter.render.ThreadView;
import dev.waymark.starter.render.WatchRenderer;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.common.v1.WorkflowType;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.update.v1.Outcome;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoResponse;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse;
import io.temporal.api.workflowservice.v1.StartWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.StartWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Loads the classes that most commands need, so that {@code ./waymark} can put them into a class-data-sharing archive.
 * Without the archive, a command spends over a second on loading classes. Runs the commands' code against a fake server
 * that has one thread.
 */
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {
    private static final String THREAD = "warm-up";

    @Mixin
    private Output output;

    @Override
    public Integer call() throws IOException {
        ConnectionOptions.silence();
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .addService(new OneThread(history()))
                .build()
                .start();
        try (AgentClient client = ConnectionOptions.to("127.0.0.1:" + server.getPort())) {
            AgentResult result = client.run(Prompt.of("assistant", "Hello"));
            OutcomeRenderer.print(output, result);
            output.document(JsonDocuments.of(result));
            output.document(JsonDocuments.of(client.say(THREAD, "Hello")));
            output.document(JsonDocuments.of(client.result(THREAD)));
            Timeline timeline = client.timeline(THREAD);
            output.document(JsonDocuments.show(timeline));
            output.pretty(JsonDocuments.versions(timeline));
            ThreadView.of(timeline).forEach(output::line);
            PendingPage waiting = client.lists().pending(PendingPageRequest.first(1), new SlowProgress(output));
            output.document(JsonDocuments.tree(waiting.items()));
            timeline.moments().forEach(moment -> {
                output.line(WatchRenderer.line(moment));
                output.document(JsonDocuments.of(moment));
            });
        } finally {
            server.shutdownNow();
        }
        return ExitCode.DONE;
    }

    private static GetWorkflowExecutionHistoryResponse history() throws IOException {
        try (InputStream recorded = WarmUpCommand.class.getResourceAsStream("warm-up.history")) {
            return GetWorkflowExecutionHistoryResponse.parseFrom(Objects.requireNonNull(recorded));
        }
    }

    /** The methods of a Temporal server that these commands call. */
    private static final class OneThread extends WorkflowServiceGrpc.WorkflowServiceImplBase {
        private final GetWorkflowExecutionHistoryResponse history;

        OneThread(GetWorkflowExecutionHistoryResponse history) {
            this.history = history;
        }

        @Override
        public void getSystemInfo(GetSystemInfoRequest request, StreamObserver<GetSystemInfoResponse> caller) {
            answer(
                    caller,
                    GetSystemInfoResponse.newBuilder().setServerVersion(THREAD).build());
        }

        @Override
        public void describeWorkflowExecution(
                DescribeWorkflowExecutionRequest request, StreamObserver<DescribeWorkflowExecutionResponse> caller) {
            answer(
                    caller,
                    DescribeWorkflowExecutionResponse.newBuilder()
                            .setWorkflowExecutionInfo(info())
                            .build());
        }

        @Override
        public void listWorkflowExecutions(
                ListWorkflowExecutionsRequest request, StreamObserver<ListWorkflowExecutionsResponse> caller) {
            answer(
                    caller,
                    ListWorkflowExecutionsResponse.newBuilder()
                            .addExecutions(info())
                            .build());
        }

        @Override
        public void getWorkflowExecutionHistory(
                GetWorkflowExecutionHistoryRequest request,
                StreamObserver<GetWorkflowExecutionHistoryResponse> caller) {
            answer(caller, history);
        }

        @Override
        public void startWorkflowExecution(
                StartWorkflowExecutionRequest request, StreamObserver<StartWorkflowExecutionResponse> caller) {
            answer(
                    caller,
                    StartWorkflowExecutionResponse.newBuilder().setRunId(THREAD).build());
        }

        @Override
        public void updateWorkflowExecution(
                UpdateWorkflowExecutionRequest request, StreamObserver<UpdateWorkflowExecutionResponse> caller) {
            answer(
                    caller,
                    UpdateWorkflowExecutionResponse.newBuilder()
                            .setOutcome(Outcome.newBuilder()
                                    .setSuccess(PayloadJson.dataConverter()
                                            .toPayloads(new Ack(1, false))
                                            .orElseThrow()))
                            .build());
        }

        private static WorkflowExecutionInfo info() {
            return WorkflowExecutionInfo.newBuilder()
                    .setExecution(
                            WorkflowExecution.newBuilder().setWorkflowId(THREAD).setRunId(THREAD))
                    .setType(WorkflowType.newBuilder().setName(WireNames.WORKFLOW_TYPE))
                    .setStatus(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED)
                    .build();
        }

        private static <T> void answer(StreamObserver<T> caller, T response) {
            caller.onNext(response);
            caller.onCompleted();
        }
    }
}
