package dev.waymark.worker.server;

import dev.waymark.contract.WireNames;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import java.nio.charset.StandardCharsets;

/** Tells connecting clients which saver stores the threads that this server would forget. */
final class DefaultSaverHeader implements ServerInterceptor {
    private static final Metadata.Key<byte[]> KEY =
            Metadata.Key.of(WireNames.DEFAULT_SAVER_HEADER, Metadata.BINARY_BYTE_MARSHALLER);
    private static final String SYSTEM_INFO =
            WorkflowServiceGrpc.getGetSystemInfoMethod().getFullMethodName();

    private final byte[] target;

    DefaultSaverHeader(String target) {
        this.target = target.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata received, ServerCallHandler<Q, A> next) {
        if (!call.getMethodDescriptor().getFullMethodName().equals(SYSTEM_INFO)) {
            return next.startCall(call, received);
        }
        return next.startCall(
                new SimpleForwardingServerCall<>(call) {
                    @Override
                    public void sendHeaders(Metadata headers) {
                        headers.put(KEY, target);
                        super.sendHeaders(headers);
                    }
                },
                received);
    }
}
