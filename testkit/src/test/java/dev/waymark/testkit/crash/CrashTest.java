package dev.waymark.testkit.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrashTest {
    @TempDir
    private Path directory;

    private final AtomicInteger cancelled = new AtomicInteger();

    @Test
    void fault_dueWhileACallIsStarting_cancelsTheCallAfterwards() {
        Path witness = directory.resolve("witness");
        Crash crash = Crash.cuttingOff(Fault.at(CrashPoint.MID_EFFECT), witness, () -> {});
        Channel server = new Server(() -> crash.come(CrashPoint.MID_EFFECT));

        crash.interceptor()
                .interceptCall(WorkflowServiceGrpc.getGetSystemInfoMethod(), CallOptions.DEFAULT, server)
                .start(new ClientCall.Listener<>() {}, new Metadata());

        assertThat(Crash.witnessed(witness)).isPresent();
        assertThat(cancelled).hasValue(1);
    }

    @Test
    void fault_dueInAnInterruptedThread_isWitnessed() {
        Path witness = directory.resolve("witness");
        Crash crash = Crash.of(Fault.at(CrashPoint.MID_EFFECT), witness, () -> {});

        Thread.currentThread().interrupt();
        crash.pass(CrashPoint.MID_EFFECT);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(Crash.witnessed(witness)).isPresent();
    }

    /** Like gRPC's channels, refuses to cancel a call that is starting. */
    private final class Server extends Channel {
        private final Runnable meanwhile;

        Server(Runnable meanwhile) {
            this.meanwhile = meanwhile;
        }

        @Override
        public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
            return new ClientCall<>() {
                private boolean started;

                @Override
                public void start(Listener<R> listener, Metadata headers) {
                    meanwhile.run();
                    started = true;
                }

                @Override
                public void cancel(@Nullable String message, @Nullable Throwable cause) {
                    assertThat(started).isTrue();
                    cancelled.incrementAndGet();
                }

                @Override
                public void request(int messages) {}

                @Override
                public void halfClose() {}

                @Override
                public void sendMessage(Q message) {}
            };
        }

        @Override
        public String authority() {
            return "a server";
        }
    }
}
