package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.ThreadEvent;
import dev.waymark.client.TurnHandle;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.RequestCounter;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.TaskQueueKind;
import io.temporal.api.taskqueue.v1.TaskQueue;
import io.temporal.api.workflowservice.v1.PollWorkflowTaskQueueRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A thread that waits behind many others does not make its caller report that no worker runs. */
@Tag("server")
@Tag("full")
@Timeout(240)
class CrowdedQueueTest {
    private static final int CROWD = 250;
    private static final int CALLERS = 50;
    private static final int MOST_THREADS = 20;

    @TempDir
    Path directory;

    @Test
    void result_busyWorker_waitsUntilNoWorkerIsLeft() throws Exception {
        new Agents(directory).greeter();
        try (Dev dev = Dev.durableWithoutWorker(directory);
                Connection connection = Connection.to(dev.address());
                AgentClient client = AgentClient.connect(dev.address())) {
            for (int i = 0; i < CROWD; i++) {
                client.start(Prompt.of("greeter", "Hello").withThread("crowd-" + i));
            }
            client.start(Prompt.of("greeter", "Hello").withThread("last"));
            AtomicBoolean busy = new AtomicBoolean(true);
            CompletableFuture<Void> worker = CompletableFuture.runAsync(() -> takeFewTasks(connection, busy));

            List<String> told = new CopyOnWriteArrayList<>();
            CompletableFuture<AgentResult> waiting = CompletableFuture.supplyAsync(
                    () -> client.onNotice(noting(told)).turn("last").await());

            assertThatThrownBy(() -> waiting.get(15, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
            assertThat(told).isEmpty();
            busy.set(false);
            worker.join();
            assertThatThrownBy(() -> waiting.get(100, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(WaymarkException.NoWorker.class);
            assertThat(told).containsExactly("no worker takes the work: last");
        }
    }

    private static Consumer<ThreadEvent> noting(List<String> told) {
        return event -> {
            if (event instanceof ThreadEvent.WorkersChanged workers) {
                workers.absence().ifPresent(absence -> told.add(absence.getMessage()));
            }
        };
    }

    @Test
    void result_manyWaits_shareOneWorkerCheck() throws Exception {
        new Agents(directory).greeter();
        RequestCounter requests = new RequestCounter();
        try (Dev dev = Dev.durableWithoutWorker(directory);
                Connection connection = Connection.to(dev.address());
                Connection counted = Connection.to(dev.address(), requests);
                AgentClient client = AgentClient.on(counted, WireNames.TASK_QUEUE)) {
            for (int i = 0; i < CROWD; i++) {
                client.start(Prompt.of("greeter", "Hello").withThread("crowd-" + i));
            }
            client.start(Prompt.of("greeter", "Hello").withThread("last"));
            requests.reset();
            AtomicBoolean busy = new AtomicBoolean(true);
            CompletableFuture<Void> worker = CompletableFuture.runAsync(() -> takeFewTasks(connection, busy));
            ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
            try {
                for (int i = 0; i < CALLERS; i++) {
                    callers.submit(() -> client.turn("last").await());
                }
                // Longer than the time after which a caller asks the server whether a worker runs.
                await().during(15, TimeUnit.SECONDS)
                        .atMost(20, TimeUnit.SECONDS)
                        .until(() -> requests.count("DescribeTaskQueue") <= 5);
            } finally {
                callers.shutdownNow();
                busy.set(false);
                worker.join();
            }

            assertThat(requests.count("DescribeTaskQueue")).isPositive();
            assertThat(requests.count("DescribeWorkflowExecution")).isEqualTo(CALLERS);
        }
    }

    @Test
    void futures_slowWorkerCheck_shareFewJavaThreadsAndWait() throws Exception {
        new Agents(directory).greeter();
        try (SlowAnswers slow = new SlowAnswers("DescribeTaskQueue", 2_500);
                Dev dev = Dev.durableWithoutWorker(directory);
                Connection connection = Connection.to(dev.address(), slow);
                AgentClient client = AgentClient.on(connection, WireNames.TASK_QUEUE)) {
            TurnHandle turn = client.start(Prompt.of("greeter", "Hello"));
            List<CompletableFuture<AgentResult>> outcomes =
                    IntStream.range(0, CROWD).mapToObj(i -> turn.future()).toList();
            int most = 0;
            while (!outcomes.stream().allMatch(CompletableFuture::isDone)) {
                most = Math.max(most, OutcomeFuturesTest.sharedThreads().size());
                TimeUnit.MILLISECONDS.sleep(20);
            }

            assertThat(most).isBetween(1, MOST_THREADS);
            assertThat(outcomes).allMatch(CrowdedQueueTest::endsWithoutWorker);
            assertThat(slow.count()).isPositive();

            // The timeout ends while the server is being asked, and the answer decides.
            AgentClient hasty = client.withTimeout(Duration.ofSeconds(12));
            assertThat(hasty.turn(turn.thread()).future()).matches(CrowdedQueueTest::endsWithoutWorker);
        }
    }

    private static boolean endsWithoutWorker(CompletableFuture<AgentResult> outcome) {
        return outcome.handle((result, failure) -> failure instanceof WaymarkException.NoWorker)
                .join();
    }

    /** Delays some requests, so that their answers come late. */
    private static final class SlowAnswers implements ClientInterceptor, AutoCloseable {
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        private final AtomicInteger count = new AtomicInteger();
        private final String method;
        private final long millis;

        SlowAnswers(String method, long millis) {
            this.method = method;
            this.millis = millis;
        }

        int count() {
            return count.get();
        }

        @Override
        public <A, B> ClientCall<A, B> interceptCall(MethodDescriptor<A, B> called, CallOptions options, Channel next) {
            ClientCall<A, B> call = next.newCall(called, options);
            if (!method.equals(called.getBareMethodName())) {
                return call;
            }
            count.incrementAndGet();
            return new ForwardingClientCall.SimpleForwardingClientCall<>(call) {
                @Override
                public void halfClose() {
                    timer.schedule(super::halfClose, millis, TimeUnit.MILLISECONDS);
                }
            };
        }

        @Override
        public void close() {
            timer.shutdownNow();
        }
    }

    /** Takes at most four tasks per second, like a slow worker, and does not reach the last one during the test. */
    private static void takeFewTasks(Connection connection, AtomicBoolean busy) {
        PollWorkflowTaskQueueRequest request = PollWorkflowTaskQueueRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setIdentity("slow")
                .setTaskQueue(TaskQueue.newBuilder()
                        .setName(WireNames.TASK_QUEUE)
                        .setKind(TaskQueueKind.TASK_QUEUE_KIND_NORMAL))
                .build();
        while (busy.get()) {
            try {
                connection
                        .stubs()
                        .blockingStub()
                        .withDeadlineAfter(10, TimeUnit.SECONDS)
                        .pollWorkflowTaskQueue(request);
                TimeUnit.MILLISECONDS.sleep(250);
            } catch (StatusRuntimeException e) {
                if (e.getStatus().getCode() != Status.Code.DEADLINE_EXCEEDED) {
                    throw e;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
