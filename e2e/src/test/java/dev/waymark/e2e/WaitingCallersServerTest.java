package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.RequestCounter;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.model.ModelRequest;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import dev.waymark.worker.tool.java.JavaTools;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The load that waiting callers put on the server, and the behavior of callers while the server does not answer. */
@Tag("server")
@Tag("full")
@Timeout(120)
class WaitingCallersServerTest {
    private static final int STEPS = 40;
    private static final int STEP_MILLIS = 250;

    /** The time after which a request without an answer fails. */
    private static final int RPC_SECONDS = 10;

    private static final int CALLERS = 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(25);

    record Nothing() {}

    private static Reply reply(ModelRequest request) {
        long steps = request.messages().stream()
                .filter(message -> message.role() == Role.ASSISTANT)
                .count();
        return steps == STEPS
                ? Reply.of(new Part.Text("Done."))
                : Reply.of(new Part.ToolUse("tu_" + steps, "wait", Json.EMPTY_OBJECT));
    }

    /**
     * Without a pause between requests, the client would send four to six of them per step, because the events of a
     * step are written one after the other.
     */
    @Test
    void result_turnOfManySteps_takesFewRequests() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        RequestCounter requests = new RequestCounter();
        JavaTool<Nothing> wait = JavaTool.of("wait", "Waits", Nothing.class, (nothing, context) -> {
                    Thread.sleep(STEP_MILLIS);
                    return "waited";
                })
                .safeToRetry();
        try (DevServer server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
                Connection ofTheWorker = Connection.to(server.address());
                Connection counted = Connection.to(server.address(), requests);
                AgentClient client = AgentClient.on(counted, WireNames.TASK_QUEUE);
                AgentWorker worker = AgentWorker.on(ofTheWorker)
                        .agents(AgentSpec.of("waiter", "fake:model", wait.spec())
                                .with()
                                .maxIterations(STEPS + 1)
                                .build())
                        .provider("fake", WaitingCallersServerTest::reply)
                        .tools(JavaTools.of(wait))
                        .build()) {
            worker.start();

            AgentResult result = client.prompt("waiter", "Go").await();

            assertThat(AgentResult.assertComplete(result).text()).isEqualTo("Done.");
            assertThat(requests.countAll()).isLessThan(5 * STEPS / 2);
        }
    }

    @Test
    void result_busyServer_waitsForIt() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        try (KillableServer server = KillableServer.start(
                        binary.get(), port -> DevServer.temporal(binary.get(), Optional.empty(), port, 0));
                Connection ofTheWorker = Connection.to(server.address());
                AgentClient client = AgentClient.connect(server.address());
                AgentWorker worker = AgentWorker.on(ofTheWorker)
                        .agents(AgentSpec.of("greeter", "fake:model"))
                        .provider("fake", request -> Reply.of(new Part.Text("Hello.")))
                        .build()) {
            worker.start();
            client.run(Prompt.of("greeter", "Hi").withThread("greeting")).await();
            server.suspend();
            CompletableFuture<AgentResult> waiting =
                    CompletableFuture.supplyAsync(() -> client.turn("greeting").await());
            try {
                assertThatThrownBy(() -> waiting.get(RPC_SECONDS + 3, TimeUnit.SECONDS))
                        .isInstanceOf(TimeoutException.class);
            } finally {
                server.resume();
            }

            assertThat(AgentResult.assertComplete(waiting.get()).text()).isEqualTo("Hello.");
        }
    }

    /**
     * Each caller asks the server whether a worker runs. If the callers asked one after the other, each would take
     * another 10 s.
     */
    @Test
    void result_workerCheckWithoutAnswer_allWaitsTimeOut() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try (DevServer server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
                Unanswered unanswered = new Unanswered("DescribeTaskQueue");
                Connection connection = Connection.to(server.address(), unanswered);
                AgentClient client = AgentClient.on(connection, WireNames.TASK_QUEUE)) {
            client.start(Prompt.of("greeter", "Hi").withThread("waiting"));
            AgentClient hasty = client.withTimeout(TIMEOUT);
            List<Future<AgentResult>> waiting = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                waiting.add(callers.submit(() -> hasty.turn("waiting").await()));
            }

            long latest = System.nanoTime() + TIMEOUT.multipliedBy(2).toNanos();
            for (Future<AgentResult> each : waiting) {
                assertThatThrownBy(() -> each.get(latest - System.nanoTime(), TimeUnit.NANOSECONDS))
                        .isInstanceOf(ExecutionException.class)
                        .hasCauseInstanceOf(WaymarkException.TimedOut.class);
            }
        } finally {
            callers.shutdownNow();
        }
    }

    /** Sends the requests of one method to a socket that accepts connections but never answers. */
    private static final class Unanswered implements ClientInterceptor, AutoCloseable {
        private final String method;
        private final ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final ManagedChannel channel = ManagedChannelBuilder.forAddress("127.0.0.1", silent.getLocalPort())
                .usePlaintext()
                .build();

        Unanswered(String method) throws IOException {
            this.method = method;
        }

        @Override
        public <A, B> ClientCall<A, B> interceptCall(MethodDescriptor<A, B> called, CallOptions options, Channel next) {
            return method.equals(called.getBareMethodName())
                    ? channel.newCall(called, options)
                    : next.newCall(called, options);
        }

        @Override
        public void close() throws IOException {
            channel.shutdownNow();
            silent.close();
        }
    }
}
