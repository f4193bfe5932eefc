package dev.waymark.worker.server;

import dev.waymark.history.HistoryReader;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.temporal.api.workflowservice.v1.PollWorkflowTaskQueueResponse;

/**
 * Makes workers of the in-memory server handle updates in the order that history records. The server delivers an update
 * as if it had arrived when the workflow task was scheduled, but records that it arrived just before the task started.
 * With another event in between, such as a signal while there was no worker, a replay would differ from the execution,
 * and the workflow would be stuck for ever.
 *
 * <p>Here, as on a real server, updates come after all other events.
 */
final class UpdateOrder implements ServerInterceptor {

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> handler) {
        return handler.startCall(
                new SimpleForwardingServerCall<Q, A>(call) {
                    @Override
                    @SuppressWarnings("unchecked") // The answer itself, or one of the same type.
                    public void sendMessage(A answer) {
                        super.sendMessage(
                                answer instanceof PollWorkflowTaskQueueResponse task && task.getMessagesCount() > 0
                                        ? (A) ordered(task)
                                        : answer);
                    }
                },
                headers);
    }

    private static PollWorkflowTaskQueueResponse ordered(PollWorkflowTaskQueueResponse task) {
        long started = HistoryReader.lastEventId(task.getHistory());
        PollWorkflowTaskQueueResponse.Builder ordered = task.toBuilder().setStartedEventId(started);
        ordered.getMessagesBuilderList().forEach(update -> update.setEventId(started - 1));
        return ordered.build();
    }
}
