package dev.waymark.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.history.HistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.worker.limit.ServiceLimits;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.workflow.TestServers;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.temporal.activity.ActivityOptions;
import io.temporal.api.workflowservice.v1.PollActivityTaskQueueResponse;
import io.temporal.api.workflowservice.v1.RespondWorkflowTaskCompletedResponse;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import io.temporal.worker.WorkerFactory;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Models with limits on the real server, which shares their rates among workers. */
@Tag("server")
@Tag("full")
class LimitsServerTest {
    private static final String LIMIT = "fake:limited";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String queue = "limits-" + UUID.randomUUID();
    private final Connection server = TestServers.real();
    private final Queue<Long> calls = new ConcurrentLinkedQueue<>();

    private final Logger logger = (Logger) LoggerFactory.getLogger(LimitWatch.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @TempDir
    Path directory;

    @BeforeEach
    void readLog() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void leaveLog() {
        logger.detachAppender(log);
    }

    private AgentWorker worker(WorkflowClient client, String limits) throws Exception {
        ModelProvider provider = request -> {
            calls.add(System.nanoTime());
            return Reply.of(new Part.Text("Reply " + calls.size()));
        };
        ModelProviders providers = ModelProviders.of(Map.of("fake", provider));
        AgentWorker.Builder worker = AgentWorker.builder(client)
                .taskQueue(queue)
                .agents(AgentSpec.of("limited", LIMIT), AgentSpec.of("free", "fake:free"))
                .providers(providers);
        if (!limits.isEmpty()) {
            Path file = Files.writeString(
                    directory.resolve(UUID.randomUUID() + ".yaml"), "limits: { '" + LIMIT + "': " + limits + " }");
            worker.limits(ServiceLimits.read(file, providers));
        }
        return worker.build().start();
    }

    private AgentWorker worker(String limits) throws Exception {
        return worker(server.client(), limits);
    }

    /** The server tells workers apart by their identity, and those of one process have the same one. */
    private WorkflowClient client(String identity) {
        return WorkflowClient.newInstance(
                server.stubs(),
                WorkflowClientOptions.newBuilder(server.client().getOptions())
                        .setIdentity(identity)
                        .build());
    }

    private WorkflowStub start(String agent, String thread) {
        WorkflowStub stub = server.client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(queue)
                                .setWorkflowId(thread)
                                .build());
        stub.start(StartInput.of(agent).saying(PersonFact.UserSpoke.message("m-1", "Hello")));
        return stub;
    }

    private void awaitReply(String thread, String text) {
        Awaitility.await()
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(new HistoryReader(server.client())
                                .read(thread)
                                .orElseThrow()
                                .now()
                                .turn()
                                .text())
                        .isEqualTo(text));
    }

    private static void awaitWarning(ListAppender<ILoggingEvent> log, String... parts) {
        Awaitility.await()
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(List.copyOf(log.list))
                        .extracting(ILoggingEvent::getFormattedMessage)
                        .anySatisfy(line -> assertThat(line).contains(parts)));
    }

    /** The task queues of a thread's model calls. */
    private List<String> queues(String thread) {
        return server.client().fetchHistory(thread).getHistory().getEventsList().stream()
                .filter(event -> event.hasActivityTaskScheduledEventAttributes())
                .map(event -> event.getActivityTaskScheduledEventAttributes())
                .filter(scheduled -> scheduled.getActivityType().getName().equals(WireNames.MODEL_ACTIVITY))
                .map(scheduled -> scheduled.getTaskQueue().getName())
                .toList();
    }

    @Test
    void twoWorkers_shareARate() throws Exception {
        try (AgentWorker first = worker("{ requests_per_minute: 120 }");
                AgentWorker second = worker("{ requests_per_minute: 120 }")) {
            IntStream.range(0, 13).forEach(i -> start("limited", queue + "-" + i));
            Awaitility.await().atMost(PATIENCE).until(() -> calls.size() == 13);
        }

        List<Long> times = calls.stream().sorted().toList();
        assertThat(Duration.ofNanos(times.get(12) - times.get(0))).isBetween(Duration.ofSeconds(4), PATIENCE);
    }

    @Test
    void worker_isToldThatAnotherStatesADifferentRate() throws Exception {
        assertTold(
                "{ requests_per_minute: 60 }",
                "Workers state different limits for " + LIMIT + ": 60 requests per minute (this worker)",
                "120 requests per minute (one@host)");
    }

    @Test
    void workerWithoutALimitOfOthers_isTold() throws Exception {
        assertTold("", "Other workers limit " + LIMIT + ": 120 requests per minute (one@host). This worker does not");
    }

    /** The other worker allows 120 requests a minute. */
    private void assertTold(String limits, String... warning) throws Exception {
        try (AgentWorker other = worker(client("one@host"), "{ requests_per_minute: 120 }");
                AgentWorker told = worker(client("two@host"), limits)) {
            awaitWarning(
                    log,
                    Stream.concat(Stream.of(warning), Stream.of("task queue " + queue))
                            .toArray(String[]::new));
        }
    }

    /** Schedules an activity in the task queue of a limit. */
    @WorkflowInterface
    public interface LimitedCall {
        @WorkflowMethod
        void call(String queue);
    }

    public static final class LimitedCallImpl implements LimitedCall {
        @Override
        public void call(String queue) {
            ActivityOptions options = ActivityOptions.newBuilder()
                    .setTaskQueue(queue)
                    .setStartToCloseTimeout(Duration.ofSeconds(30))
                    .build();
            Workflow.newUntypedActivityStub(options).execute(WireNames.MODEL_ACTIVITY, Void.class);
        }
    }

    @Test
    void callInTheQueueOfARemovedLimit_isTold() throws Exception {
        String other = queue + "-other";
        WorkerFactory scheduling = WorkerFactory.newInstance(server.client());
        scheduling.newWorker(other).registerWorkflowImplementationTypes(LimitedCallImpl.class);
        scheduling.start();
        try (AgentWorker worker = worker("")) {
            WorkflowStub call = server.client()
                    .newUntypedWorkflowStub(
                            "LimitedCall",
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue(other)
                                    .setWorkflowId(other)
                                    .build());
            call.start(WireNames.limitedQueue(queue, LIMIT));

            awaitWarning(
                    log,
                    "Model calls wait in the task queue " + WireNames.limitedQueue(queue, LIMIT)
                            + ", which no worker polls",
                    "\"" + LIMIT + ": {}\"");
            call.terminate("the test has ended");
        } finally {
            scheduling.shutdownNow();
            scheduling.awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    @Test
    void limitedModel_isCalledInItsOwnQueue_andOthersStayEager() throws Exception {
        EagerTasks eager = new EagerTasks();
        WorkflowServiceStubs stubs = WorkflowServiceStubs.newServiceStubs(
                WorkflowServiceStubsOptions.newBuilder(server.stubs().getOptions())
                        .setChannel(null)
                        .setTarget(server.stubs().getOptions().getTarget())
                        .setGrpcClientInterceptors(List.of(eager))
                        .build());
        WorkflowClient client =
                WorkflowClient.newInstance(stubs, server.client().getOptions());
        try (AgentWorker worker = worker(client, "{ at_a_time: 3 }")) {
            start("limited", queue + "-limited");
            awaitReply(queue + "-limited", "Reply 1");
            assertThat(eager.activities).doesNotContain(WireNames.MODEL_ACTIVITY);

            start("free", queue + "-free");
            awaitReply(queue + "-free", "Reply 2");
            assertThat(eager.activities).contains(WireNames.MODEL_ACTIVITY);
        } finally {
            stubs.shutdownNow();
        }

        assertThat(queues(queue + "-limited")).containsExactly(WireNames.limitedQueue(queue, LIMIT));
        assertThat(queues(queue + "-free")).containsExactly(queue);
    }

    @Test
    void thread_goesOnWithOtherLimits() throws Exception {
        String thread = queue + "-moves";
        WorkflowStub stub;
        try (AgentWorker limited = worker("{ requests_per_minute: 6000 }")) {
            stub = start("limited", thread);
            awaitReply(thread, "Reply 1");
        }
        try (AgentWorker unlimited = worker("")) {
            stub.signal(SignalNames.SAY, "Replay all, and go on without the limit");
            awaitReply(thread, "Reply 2");
        }
        try (AgentWorker limited = worker("{ at_a_time: 2 }")) {
            stub.signal(SignalNames.SAY, "Replay all, and go on with another limit");
            awaitReply(thread, "Reply 3");
        }

        String own = WireNames.limitedQueue(queue, LIMIT);
        assertThat(queues(thread)).containsExactly(own, queue, own);
    }

    /** Records the types of the activities that the server hands out together with the answer to a workflow task. */
    private static final class EagerTasks implements ClientInterceptor {
        private final Queue<String> activities = new ConcurrentLinkedQueue<>();

        @Override
        public <A, B> ClientCall<A, B> interceptCall(
                MethodDescriptor<A, B> method, CallOptions options, Channel channel) {
            return new ForwardingClientCall.SimpleForwardingClientCall<>(channel.newCall(method, options)) {
                @Override
                public void start(Listener<B> listener, Metadata headers) {
                    super.start(
                            new ForwardingClientCallListener.SimpleForwardingClientCallListener<>(listener) {
                                @Override
                                public void onMessage(B message) {
                                    if (message instanceof RespondWorkflowTaskCompletedResponse answer) {
                                        answer.getActivityTasksList().stream()
                                                .map(PollActivityTaskQueueResponse::getActivityType)
                                                .forEach(type -> activities.add(type.getName()));
                                    }
                                    super.onMessage(message);
                                }
                            },
                            headers);
                }
            };
        }
    }
}
