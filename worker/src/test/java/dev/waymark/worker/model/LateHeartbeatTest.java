package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelProvider;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.temporal.api.workflowservice.v1.WorkflowServiceGrpc;
import io.temporal.client.WorkflowOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A heartbeat that arrives after a later one, so that the server has its older details. */
@Timeout(180)
class LateHeartbeatTest {
    /** Much shorter than the second until the next regular heartbeat. */
    private static final Duration AT_ONCE = Duration.ofMillis(600);

    @Test
    void lateHeartbeat_isFollowedByTheNewestDetailsAtOnce() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        ModelProvider model = request -> {
            over.await();
            return Reply.of(new Part.Text("Hello."));
        };
        FirstComesLast heartbeats = new FirstComesLast();
        String queue = "late-heartbeat-" + UUID.randomUUID();
        try (DevServer server = InMemoryServer.start(0);
                Connection connection = Connection.to(server.address(), heartbeats);
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .taskQueue(queue)
                        .agents(AgentSpec.of("a", "slow:m"))
                        .providers(ModelProviders.of(Map.of("slow", model)))
                        .build()) {
            worker.start();
            connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(queue)
                                    .setWorkflowId(queue)
                                    .build())
                    .start(StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Hi")));

            Duration pause = Duration.ofNanos(
                    heartbeats.next.get(30, TimeUnit.SECONDS) - heartbeats.lateOneEnded.get(30, TimeUnit.SECONDS));
            over.countDown();

            assertThat(pause).isLessThan(AT_ONCE);
        }
    }

    /** Holds the first heartbeat back until the second one has been answered. */
    private static final class FirstComesLast implements ClientInterceptor {
        private final List<String> begun = new CopyOnWriteArrayList<>();
        private final CompletableFuture<Boolean> secondAnswered = new CompletableFuture<>();
        private final CompletableFuture<Long> lateOneEnded = new CompletableFuture<>();
        /** When the third heartbeat began. */
        private final CompletableFuture<Long> next = new CompletableFuture<>();

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(
                MethodDescriptor<Q, A> method, CallOptions options, Channel channel) {
            if (!method.getFullMethodName()
                    .equals(WorkflowServiceGrpc.getRecordActivityTaskHeartbeatMethod()
                            .getFullMethodName())) {
                return channel.newCall(method, options);
            }
            int number;
            synchronized (begun) {
                begun.add(method.getFullMethodName());
                number = begun.size();
            }
            if (number == 3) {
                next.complete(System.nanoTime());
            }
            return new SimpleForwardingClientCall<>(channel.newCall(method, options)) {
                @Override
                public void start(Listener<A> listener, Metadata headers) {
                    super.start(
                            new SimpleForwardingClientCallListener<>(listener) {
                                @Override
                                public void onClose(Status status, Metadata trailers) {
                                    if (number == 1) {
                                        lateOneEnded.complete(System.nanoTime());
                                    }
                                    super.onClose(status, trailers);
                                    if (number == 2) {
                                        secondAnswered.complete(true);
                                    }
                                }
                            },
                            headers);
                }

                @Override
                public void halfClose() {
                    if (number == 1) {
                        secondAnswered.thenRun(super::halfClose);
                    } else {
                        super.halfClose();
                    }
                }
            };
        }
    }
}
