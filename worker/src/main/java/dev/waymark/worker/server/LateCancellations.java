package dev.waymark.worker.server;

import com.google.protobuf.ByteString;
import dev.waymark.history.HistoryReader;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.temporal.api.command.v1.Command;
import io.temporal.api.command.v1.CompleteWorkflowExecutionCommandAttributes;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.CommandType;
import io.temporal.api.enums.v1.PendingActivityState;
import io.temporal.api.history.v1.History;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse;
import io.temporal.api.workflowservice.v1.RespondActivityTaskFailedRequest;
import io.temporal.api.workflowservice.v1.RespondWorkflowTaskCompletedRequest;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import io.temporal.internal.testservice.TestWorkflowService;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/**
 * Prevents the in-memory server from losing workflows. A workflow task may cancel an activity that closes before the
 * task completes. A real server accepts that; the in-memory server rejects the whole task and never schedules another
 * one.
 *
 * <p>Such a task is failed here instead, so that the workflow gets a new task that includes the closed activity. To
 * fail the task, its commands are replaced with one that completes the workflow, which the server rejects while there
 * are new events.
 *
 * <p>An attempt may also fail after its cancellation was requested, and before it learns of that. A real server closes
 * such an activity; the in-memory server neither closes nor retries it. So the failure is made final here.
 */
final class LateCancellations implements ServerInterceptor {
    private static final String TASK_COMPLETED =
            WorkflowServiceGrpc.getRespondWorkflowTaskCompletedMethod().getFullMethodName();
    /** The prefix of all methods that close an activity. */
    private static final String ACTIVITY_CLOSES = "RespondActivityTask";

    private final TestWorkflowService service;
    /** Held so that no activity closes between the check for open activities and the completion of the task. */
    private final ReadWriteLock closing = new ReentrantReadWriteLock();

    LateCancellations(TestWorkflowService service) {
        this.service = service;
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> handler) {
        if (call.getMethodDescriptor().getFullMethodName().equals(TASK_COMPLETED)) {
            Reply<Q, A> reply = new Reply<>(call);
            return new TaskCompleted<>(handler.startCall(reply, headers), reply);
        }
        ServerCall.Listener<Q> listener = handler.startCall(call, headers);
        String method = String.valueOf(call.getMethodDescriptor().getBareMethodName());
        return method.startsWith(ACTIVITY_CLOSES) ? new ActivityCloses<>(listener) : listener;
    }

    /** A request that may be changed before the server gets it. Meanwhile, no activity starts or ends. */
    private abstract static class Judged<Q> extends SimpleForwardingServerCallListener<Q> {
        private final Lock lock;
        private List<Q> held = List.of();

        Judged(ServerCall.Listener<Q> listener, Lock lock) {
            super(listener);
            this.lock = lock;
        }

        /** The request itself, or one of the same type. */
        abstract Q judged(Q message);

        @Override
        public void onMessage(Q message) {
            held = List.of(message);
        }

        /** The server has already answered when this returns. */
        @Override
        public void onHalfClose() {
            lock.lock();
            try {
                held.forEach(message -> super.onMessage(judged(message)));
                super.onHalfClose();
            } finally {
                lock.unlock();
            }
        }
    }

    private final class ActivityCloses<Q> extends Judged<Q> {
        ActivityCloses(ServerCall.Listener<Q> listener) {
            super(listener, closing.readLock());
        }

        @Override
        @SuppressWarnings("unchecked") // It is of the same type.
        Q judged(Q message) {
            if (!(message instanceof RespondActivityTaskFailedRequest request)
                    || !request.getFailure().hasApplicationFailureInfo()
                    || !isCancelled(request.getTaskToken())) {
                return message;
            }
            RespondActivityTaskFailedRequest.Builder last = request.toBuilder();
            last.getFailureBuilder().getApplicationFailureInfoBuilder().setNonRetryable(true);
            return (Q) last.build();
        }
    }

    private final class TaskCompleted<Q> extends Judged<Q> {
        private final Reply<Q, ?> reply;

        TaskCompleted(ServerCall.Listener<Q> listener, Reply<Q, ?> reply) {
            super(listener, closing.writeLock());
            this.reply = reply;
        }

        @Override
        @SuppressWarnings("unchecked") // It is of the same type.
        Q judged(Q message) {
            if (!(message instanceof RespondWorkflowTaskCompletedRequest request) || !cancelsWhatHasClosed(request)) {
                return message;
            }
            reply.refuse();
            return (Q) request.toBuilder()
                    .clearCommands()
                    .clearMessages()
                    .addCommands(Command.newBuilder()
                            .setCommandType(CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION)
                            .setCompleteWorkflowExecutionCommandAttributes(
                                    CompleteWorkflowExecutionCommandAttributes.getDefaultInstance()))
                    .build();
        }
    }

    /** Turns the server's success into a failure, so that the worker does not continue from a failed task. */
    private static final class Reply<Q, A> extends SimpleForwardingServerCall<Q, A> {
        private boolean refused;

        Reply(ServerCall<Q, A> call) {
            super(call);
        }

        void refuse() {
            refused = true;
        }

        @Override
        public void sendHeaders(Metadata headers) {
            if (!refused) {
                super.sendHeaders(headers);
            }
        }

        @Override
        public void sendMessage(A message) {
            if (!refused) {
                super.sendMessage(message);
            }
        }

        @Override
        public void close(Status status, Metadata trailers) {
            boolean asPlanned = refused && status.isOk();
            super.close(
                    asPlanned ? Status.INVALID_ARGUMENT.withDescription("UnhandledCommand") : status,
                    asPlanned ? new Metadata() : trailers);
        }
    }

    private boolean cancelsWhatHasClosed(RespondWorkflowTaskCompletedRequest request) {
        List<Long> cancelled = request.getCommandsList().stream()
                .filter(Command::hasRequestCancelActivityTaskCommandAttributes)
                .map(command ->
                        command.getRequestCancelActivityTaskCommandAttributes().getScheduledEventId())
                .toList();
        if (cancelled.isEmpty()) {
            return false;
        }
        Run run = Run.of(request.getTaskToken());
        Set<String> open =
                pending(run).stream().map(PendingActivityInfo::getActivityId).collect(Collectors.toSet());
        return !open.containsAll(HistoryReader.activitiesScheduledBy(cancelled, history(run)));
    }

    /** Whether the cancellation of the activity with this task token has been requested. */
    private boolean isCancelled(ByteString token) {
        Run run = Run.of(token);
        List<String> cancelled = pending(run).stream()
                .filter(activity -> activity.getState() == PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED)
                .map(PendingActivityInfo::getActivityId)
                .toList();
        return !cancelled.isEmpty()
                && cancelled.containsAll(HistoryReader.activitiesScheduledBy(List.of(run.scheduledBy()), history(run)));
    }

    private List<PendingActivityInfo> pending(Run run) {
        DescribeWorkflowExecutionResponse described =
                LateCancellations.<DescribeWorkflowExecutionRequest, DescribeWorkflowExecutionResponse>ask(
                        service::describeWorkflowExecution,
                        DescribeWorkflowExecutionRequest.newBuilder()
                                .setNamespace(run.namespace())
                                .setExecution(run.execution())
                                .build());
        return described.getPendingActivitiesList();
    }

    private History history(Run run) {
        return LateCancellations.<GetWorkflowExecutionHistoryRequest, GetWorkflowExecutionHistoryResponse>ask(
                        service::getWorkflowExecutionHistory,
                        GetWorkflowExecutionHistoryRequest.newBuilder()
                                .setNamespace(run.namespace())
                                .setExecution(run.execution())
                                .build())
                .getHistory();
    }

    private static <Q, A> A ask(BiConsumer<Q, StreamObserver<A>> method, Q request) {
        CompletableFuture<A> answer = new CompletableFuture<>();
        method.accept(request, new StreamObserver<>() {
            @Override
            public void onNext(A value) {
                answer.complete(value);
            }

            @Override
            public void onError(Throwable failure) {
                answer.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {
                answer.completeExceptionally(new IllegalStateException("the server closed the call without an answer"));
            }
        });
        return answer.join();
    }

    /**
     * The workflow run of a task token, in the in-memory server's encoding.
     *
     * @param scheduledBy in the token of an activity, the id of the event that scheduled it
     */
    private record Run(String namespace, WorkflowExecution execution, long scheduledBy) {
        static Run of(ByteString token) {
            try (DataInputStream in = new DataInputStream(token.newInput())) {
                String namespace = in.readUTF();
                WorkflowExecution execution = WorkflowExecution.newBuilder()
                        .setWorkflowId(in.readUTF())
                        .setRunId(in.readUTF())
                        .build();
                return new Run(namespace, execution, in.available() < Long.BYTES ? 0 : in.readLong());
            } catch (IOException e) {
                throw new IllegalStateException("the task token is not one of this server", e);
            }
        }
    }
}
