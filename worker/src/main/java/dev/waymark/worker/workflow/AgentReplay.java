package dev.waymark.worker.workflow;

import dev.waymark.contract.PayloadJson;
import dev.waymark.history.HistoryReplay;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.api.workflowservice.v1.GetSystemInfoResponse;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Replays histories with the workflow code of this build. */
public final class AgentReplay implements HistoryReplay {
    /** Matches the SDK's description of the event that the workflow code contradicts. */
    private static final Pattern EVENT = Pattern.compile("Failure handling event (\\d+) of type '(\\w+)'");

    /** Matches the causes of a failed replay, which the SDK reports as text with a stack trace. */
    private static final Pattern CAUSE = Pattern.compile("(?m)^Caused by: ([\\w.$]+(?:: .*)?)$");

    /** Deadlock timeout: replaying a long history on a busy machine must not be taken for a deadlock. */
    private static final Duration SLOW_MACHINE = Duration.ofSeconds(30);

    private final Server server;
    private final ManagedChannel channel;
    private final WorkflowServiceStubs service;
    private final WorkerFactory factory;
    private final Worker worker;

    public AgentReplay() {
        String name = InProcessServerBuilder.generateName();
        try {
            server = InProcessServerBuilder.forName(name)
                    .directExecutor()
                    .addService(new Capabilities())
                    .build()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        channel = InProcessChannelBuilder.forName(name).directExecutor().build();
        service = WorkflowServiceStubs.newServiceStubs(
                WorkflowServiceStubsOptions.newBuilder().setChannel(channel).build());
        WorkflowClient client = WorkflowClient.newInstance(
                service,
                WorkflowClientOptions.newBuilder()
                        .setDataConverter(PayloadJson.dataConverter())
                        .build());
        factory = WorkerFactory.newInstance(client);
        worker = factory.newWorker(
                "replay",
                WorkerOptions.newBuilder()
                        .setDefaultDeadlockDetectionTimeout(SLOW_MACHINE.toMillis())
                        .build());
        worker.registerWorkflowImplementationTypes(AgentWorkflowImpl.class);
    }

    @Override
    public Optional<Failure> replay(WorkflowExecutionHistory history) {
        try {
            worker.replayWorkflowExecution(history);
            return Optional.empty();
        } catch (Exception e) {
            return Optional.of(failure(e));
        }
    }

    private static Failure failure(Exception problem) {
        String text = Stream.<Throwable>iterate(problem, Objects::nonNull, Throwable::getCause)
                .map(Throwable::toString)
                .collect(Collectors.joining("\nCaused by: "));
        Matcher event = EVENT.matcher(text);
        String last = text.lines().findFirst().orElse("");
        Matcher cause = CAUSE.matcher(text);
        while (cause.find()) {
            last = cause.group(1);
        }
        return event.find()
                ? new Failure(Optional.of(Long.parseLong(event.group(1))), event.group(2) + ": " + last)
                : new Failure(Optional.empty(), last);
    }

    @Override
    public void close() {
        factory.shutdownNow();
        service.shutdownNow();
        channel.shutdownNow();
        server.shutdownNow();
    }

    /** Answers the only request that a replay sends, for the capabilities of the server. */
    private static final class Capabilities extends WorkflowServiceGrpc.WorkflowServiceImplBase {
        @Override
        public void getSystemInfo(GetSystemInfoRequest request, StreamObserver<GetSystemInfoResponse> answer) {
            answer.onNext(GetSystemInfoResponse.newBuilder()
                    .setCapabilities(
                            GetSystemInfoResponse.Capabilities.newBuilder().setSdkMetadata(true))
                    .build());
            answer.onCompleted();
        }
    }
}
