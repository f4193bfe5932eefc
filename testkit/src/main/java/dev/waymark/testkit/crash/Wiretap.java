package dev.waymark.testkit.crash;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.work.ModelResult;
import dev.waymark.contract.work.PartialReply;
import dev.waymark.contract.work.ToolInput;
import dev.waymark.conversation.fact.SignalNames;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.temporal.api.command.v1.Command;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.protocol.v1.Message;
import io.temporal.api.update.v1.Acceptance;
import io.temporal.api.workflowservice.v1.PollActivityTaskQueueResponse;
import io.temporal.api.workflowservice.v1.RecordActivityTaskHeartbeatRequest;
import io.temporal.api.workflowservice.v1.RespondActivityTaskCompletedRequest;
import io.temporal.api.workflowservice.v1.RespondActivityTaskFailedRequest;
import io.temporal.api.workflowservice.v1.RespondWorkflowTaskCompletedRequest;
import io.temporal.api.workflowservice.v1.RespondWorkflowTaskCompletedResponse;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.UpdateWorkflowExecutionResponse;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Finds crash points in a worker's gRPC calls to its server, and blocks the calls once the worker is cut off. */
final class Wiretap implements ClientInterceptor {
    private static final Set<String> OWN_ACTIVITIES = Set.of(
            WireNames.MODEL_ACTIVITY, WireNames.AGENT_ACTIVITY, WireNames.VERIFY_ACTIVITY, WireNames.STATE_ACTIVITY);

    private final Crash crash;
    /** The task tokens of tool activities. */
    private final Set<ByteString> tools = ConcurrentHashMap.newKeySet();

    /** The task tokens of model activities. */
    private final Set<ByteString> models = ConcurrentHashMap.newKeySet();

    Wiretap(Crash crash) {
        this.crash = crash;
    }

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel channel) {
        return new Observed<>(channel.newCall(method, options));
    }

    private void sending(Object request) {
        if (isClaim(request)) {
            crash.come(CrashPoint.BEFORE_CLAIM);
        } else if (isOutcomeOfTool(request)) {
            crash.come(CrashPoint.BEFORE_COMPLETION);
        }
    }

    private void answered(@Nullable Object request, Object answer) {
        if (answer instanceof PollActivityTaskQueueResponse task) {
            received(task);
        } else if (request instanceof RespondWorkflowTaskCompletedRequest decided) {
            decided.getMessagesList().forEach(this::saw);
            decided.getCommandsList().forEach(this::saw);
            ((RespondWorkflowTaskCompletedResponse) answer)
                    .getActivityTasksList()
                    .forEach(this::received);
        } else if (isOutcomeOfTool(request)) {
            crash.come(CrashPoint.AFTER_COMPLETION);
        } else if (isSavedReply(request)) {
            crash.come(CrashPoint.REPLY_SAVED);
        } else if (isClaim(request)
                && ((UpdateWorkflowExecutionResponse) answer).getOutcome().hasSuccess()) {
            crash.come(CrashPoint.AFTER_CLAIM);
        }
    }

    private void received(PollActivityTaskQueueResponse task) {
        if (task.getActivityType().getName().equals(WireNames.MODEL_ACTIVITY)) {
            models.add(task.getTaskToken());
        }
        if (!task.getTaskToken().isEmpty()
                && !OWN_ACTIVITIES.contains(task.getActivityType().getName())) {
            tools.add(task.getTaskToken());
            ToolInput input = decoded(task.getInput(), ToolInput.class);
            if (input.run().isEmpty()) {
                crash.come(CrashPoint.BEFORE_CLAIM);
            }
        }
    }

    private void saw(Command command) {
        switch (command.getCommandType()) {
            case COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK -> {
                String type = command.getScheduleActivityTaskCommandAttributes()
                        .getActivityType()
                        .getName();
                if (!OWN_ACTIVITIES.contains(type)) {
                    crash.come(CrashPoint.BEFORE_TOOL_POLL);
                }
            }
            case COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION -> crash.come(CrashPoint.CONTINUED_AS_NEW);
            case COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION -> crash.come(CrashPoint.SUBAGENT_STARTED);
            default -> {
                // Not a crash point.
            }
        }
    }

    private void saw(Message message) {
        try {
            if (message.getBody().is(Acceptance.class)) {
                String update = message.getBody()
                        .unpack(Acceptance.class)
                        .getAcceptedRequest()
                        .getInput()
                        .getName();
                if (update.equals(SignalNames.SAY)) {
                    crash.come(CrashPoint.MESSAGE_ACCEPTED);
                } else if (update.equals(SignalNames.APPROVE)) {
                    crash.come(CrashPoint.APPROVAL_ACCEPTED);
                }
            }
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isClaim(@Nullable Object request) {
        return request instanceof UpdateWorkflowExecutionRequest update
                && update.getRequest().getInput().getName().equals(SignalNames.CLAIM);
    }

    private boolean isOutcomeOfTool(@Nullable Object request) {
        return request instanceof RespondActivityTaskCompletedRequest completed
                        && (tools.contains(completed.getTaskToken()) || isStep(completed))
                || request instanceof RespondActivityTaskFailedRequest failed && tools.contains(failed.getTaskToken());
    }

    /** Whether the result of a model call has outcomes of calls. */
    private boolean isStep(RespondActivityTaskCompletedRequest completed) {
        return models.contains(completed.getTaskToken())
                && !decoded(completed.getResult(), ModelResult.class).ran().isEmpty();
    }

    private boolean isSavedReply(@Nullable Object request) {
        return request instanceof RecordActivityTaskHeartbeatRequest heartbeat
                && models.contains(heartbeat.getTaskToken())
                && heartbeat.hasDetails()
                && decoded(heartbeat.getDetails(), PartialReply.class).saved().isPresent();
    }

    private static <T> T decoded(Payloads payloads, Class<T> type) {
        return PayloadJson.dataConverter().fromPayloads(0, Optional.of(payloads), type, type);
    }

    /** A gRPC call that is not started, or gets no further answer, once the worker is cut off. */
    private final class Observed<Q, R> extends SimpleForwardingClientCall<Q, R> {
        private volatile @Nullable Object request;
        private boolean begun;
        private volatile boolean ended;

        Observed(ClientCall<Q, R> call) {
            super(call);
        }

        @Override
        public void start(Listener<R> listener, Metadata headers) {
            if (crash.isSilent()) {
                return;
            }
            begun = true;
            super.start(
                    new SimpleForwardingClientCallListener<R>(listener) {
                        @Override
                        public void onMessage(R answer) {
                            if (!crash.isSilent()) {
                                answered(request, answer);
                            }
                            if (!crash.isSilent()) {
                                super.onMessage(answer);
                            }
                        }

                        @Override
                        public void onClose(Status status, Metadata trailers) {
                            ended = true;
                            crash.ended(Observed.this.delegate());
                            if (!crash.isSilent()) {
                                super.onClose(status, trailers);
                            }
                        }
                    },
                    headers);
            // Not before, because a call must not be cancelled while it is starting.
            crash.began(delegate());
            if (ended) {
                crash.ended(delegate());
            }
        }

        @Override
        public void sendMessage(Q message) {
            request = message;
            if (!crash.isSilent()) {
                sending(message);
            }
            if (begun && !crash.isSilent()) {
                super.sendMessage(message);
            }
        }

        @Override
        public void halfClose() {
            if (begun && !crash.isSilent()) {
                super.halfClose();
            }
        }

        @Override
        public void request(int messages) {
            if (begun && !crash.isSilent()) {
                super.request(messages);
            }
        }

        @Override
        public void cancel(@Nullable String message, @Nullable Throwable cause) {
            if (begun) {
                super.cancel(message, cause);
            }
        }
    }
}
