package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usage;
import dev.waymark.model.ModelFailure;
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
import io.temporal.client.WorkflowStub;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The details that the next attempt gets if an earlier heartbeat arrives after the last one. */
@Timeout(180)
class LastHeartbeatTest {
    @Test
    void slowHeartbeat_doesNotReplaceTheLastOne() throws Exception {
        List<String> asked = new CopyOnWriteArrayList<>();
        ModelProvider busy = request -> {
            asked.add("busy");
            TimeUnit.MILLISECONDS.sleep(1_300); // Meanwhile, a heartbeat is sent.
            throw ModelFailure.passing("Busy", "busy");
        };
        ModelProvider idle = request -> {
            asked.add("idle");
            return new Reply(List.of(new Part.Text("Hello.")), new Usage(1, 1), "end_turn");
        };
        String queue = "last-heartbeat-" + UUID.randomUUID();
        try (DevServer server = InMemoryServer.start(0);
                Connection connection = Connection.to(server.address(), new SlowHeartbeats());
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .taskQueue(queue)
                        .agents(AgentSpec.of("a", "busy:m")
                                .with()
                                .fallback(List.of(FallbackModel.of("idle:m")))
                                .build())
                        .providers(ModelProviders.of(Map.of("busy", busy, "idle", idle)))
                        .build()) {
            worker.start();
            WorkflowStub thread = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(queue)
                                    .setWorkflowId(UUID.randomUUID().toString())
                                    .build());
            thread.start(StartInput.of("a").closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", "Hi")));

            assertThat(thread.getResult(RunOutcome.class).text()).isEqualTo("Hello.");
        }
        assertThat(asked).containsExactly("busy", "busy", "idle");
    }

    /**
     * Holds back each regular heartbeat until a later heartbeat has been answered, and the end of the attempt until the
     * heartbeat that was held back has been answered.
     */
    private static final class SlowHeartbeats implements ClientInterceptor {
        private volatile CountDownLatch laterOne = new CountDownLatch(1);
        private volatile CountDownLatch slowOne = new CountDownLatch(0);

        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(
                MethodDescriptor<Q, A> method, CallOptions options, Channel channel) {
            boolean isHeartbeat = method.getFullMethodName()
                    .equals(WorkflowServiceGrpc.getRecordActivityTaskHeartbeatMethod()
                            .getFullMethodName());
            boolean isEnd = method.getFullMethodName()
                    .equals(WorkflowServiceGrpc.getRespondActivityTaskFailedMethod()
                            .getFullMethodName());
            boolean isSlow = isHeartbeat && Thread.currentThread().getName().startsWith("heartbeats");
            if (isSlow) {
                laterOne = new CountDownLatch(1);
                slowOne = new CountDownLatch(1);
                await(laterOne);
            } else if (isEnd) {
                await(slowOne);
            }
            CountDownLatch done = isSlow ? slowOne : isHeartbeat ? laterOne : new CountDownLatch(0);
            return new SimpleForwardingClientCall<>(channel.newCall(method, options)) {
                @Override
                public void start(Listener<A> listener, Metadata headers) {
                    super.start(
                            new SimpleForwardingClientCallListener<>(listener) {
                                @Override
                                public void onClose(Status status, Metadata trailers) {
                                    super.onClose(status, trailers);
                                    done.countDown();
                                }
                            },
                            headers);
                }
            };
        }

        private static void await(CountDownLatch latch) {
            try {
                // Limited: otherwise a heartbeat that the last one waits for would itself wait for the last one.
                latch.await(1, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
