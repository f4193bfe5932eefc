package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.StateDigest;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.contract.work.ModelInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.history.DigestAudit;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.RunReader;
import dev.waymark.history.ThreadHistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.HistoryCheck;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.Tool;
import dev.waymark.worker.activity.Heartbeat;
import dev.waymark.worker.activity.StateActivity;
import dev.waymark.worker.activity.StateActivityImpl;
import dev.waymark.worker.announce.Receivers;
import dev.waymark.worker.announce.delivery.AnnounceActivityImpl;
import dev.waymark.worker.journal.ClaimJournal;
import dev.waymark.worker.judge.CallJudges;
import dev.waymark.worker.judge.JudgeActivityImpl;
import dev.waymark.worker.metrics.AttemptMetrics;
import dev.waymark.worker.model.LiveReplies;
import dev.waymark.worker.model.ModelActivity;
import dev.waymark.worker.model.ModelActivityImpl;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.resolution.AgentActivity;
import dev.waymark.worker.tool.ClaimSender;
import dev.waymark.worker.tool.FusedCalls;
import dev.waymark.worker.tool.LateOutcomeSender;
import dev.waymark.worker.tool.TaskActivityImpl;
import dev.waymark.worker.tool.ToolActivity;
import dev.waymark.worker.tool.ToolKinds;
import dev.waymark.worker.tool.ToolRunner;
import dev.waymark.worker.tool.VerifyActivityImpl;
import dev.waymark.worker.tool.java.JavaTools;
import dev.waymark.worker.tool.mcp.McpEntry;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.temporal.activity.Activity;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.Payloads;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.update.v1.UpdateRef;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.PollWorkflowExecutionUpdateRequest;
import io.temporal.api.workflowservice.v1.RespondActivityTaskCompletedByIdRequest;
import io.temporal.api.workflowservice.v1.SignalWorkflowExecutionRequest;
import io.temporal.client.UpdateOptions;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowQueryException;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateStage;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.awaitility.pollinterval.IterativePollInterval;

/**
 * A worker without a workflow cache, so that every workflow task replays its thread from the start. It runs against a
 * running server. When it is closed, every thread that it started must agree with its projection and must replay.
 */
final class WorkflowRig implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(300);
    /** A failure with the whole of a large state would take Maven minutes to report. */
    private static final int MOST_WORDS = 20_000;

    /** Few attempts, because the default would take a quarter of an hour. */
    static final int ATTEMPTS_TO_FIND_RUN = 4;

    /** The deadlock timeout of production workers. */
    private static final Duration DEADLOCK = Duration.ofSeconds(5);

    private final Connection connection;
    private final HistoryReader histories;
    private final AgentReplay replay = new AgentReplay();
    private final String taskQueue = "rig-" + UUID.randomUUID();
    private final List<String> threads = new ArrayList<>();
    private final ModelProviders providers;
    private List<Tool> tools;
    private final List<ToolSpec> toolSpecs = new ArrayList<>();
    private WorkerFactory factory;
    private final Map<String, List<ToolSpec>> subagents = new ConcurrentHashMap<>();
    private ToolKinds kinds;
    private final AtomicInteger fetchesOfStates = new AtomicInteger();
    private volatile CountDownLatch stateGate = new CountDownLatch(0);
    private volatile List<McpEntry> entries = List.of();
    private Receivers receivers = Receivers.NONE;
    private volatile UnaryOperator<AgentSpec.Builder> change = UnaryOperator.identity();
    private volatile UnaryOperator<ModelInput> modelInput = UnaryOperator.identity();

    WorkflowRig(Connection connection, ModelProvider provider, Tool... tools) {
        this.connection = connection;
        this.histories = new HistoryReader(connection.client());
        this.providers = ModelProviders.of(Map.of("fake", provider));
        this.tools = List.of(tools);
        BuiltInTools.GROUPS.forEach(group -> toolSpecs.addAll(BuiltInTools.of(group)));
        this.tools.forEach(tool -> toolSpecs.add(tool.spec()));
        this.factory = newWorker();
    }

    private WorkerFactory newWorker() {
        WorkerFactory created = WorkerFactory.newInstance(
                connection.client(),
                WorkerFactoryOptions.newBuilder().setWorkflowCacheSize(0).build());
        Worker worker = created.newWorker(
                taskQueue,
                WorkerOptions.newBuilder()
                        .setStickyQueueScheduleToStartTimeout(Duration.ZERO)
                        .setDefaultDeadlockDetectionTimeout(DEADLOCK.toMillis())
                        .build());
        RunReader runs = new RunReader(histories, 1_000);
        worker.registerWorkflowImplementationTypes(AgentWorkflowImpl.class);
        kinds = new ToolKinds(System.getenv(), Path.of("."), JavaTools.of(tools));
        ToolRunner runner = new ToolRunner(kinds);
        CallJudges judges = new CallJudges(List.of(), runner);
        ModelActivity model = new ModelActivityImpl(
                runs,
                providers,
                judges,
                new FusedCalls(runner),
                new LiveReplies(thread -> PayloadJson.dataConverter(connection.client(), thread)),
                new AttemptMetrics(new SimpleMeterRegistry()));
        worker.registerActivitiesImplementations(
                (AgentActivity) this::agent, new JudgeActivityImpl(runs, judges), (ModelActivity)
                        input -> model.call(modelInput.apply(input)));
        StateActivityImpl carrier = new StateActivityImpl(runs, ATTEMPTS_TO_FIND_RUN);
        worker.registerActivitiesImplementations(
                new ToolActivity(
                        runs,
                        runner,
                        new ClaimSender(connection.client(), new AttemptMetrics(new SimpleMeterRegistry())),
                        new LateOutcomeSender(connection.client()),
                        new ClaimJournal("any"),
                        () -> false),
                new AnnounceActivityImpl(receivers, new AttemptMetrics(new SimpleMeterRegistry())),
                new VerifyActivityImpl(runs, runner),
                new TaskActivityImpl(runs, runner),
                (StateActivity) input -> {
                    fetchesOfStates.incrementAndGet();
                    try (Heartbeat ignored = Heartbeat.begin()) {
                        awaitGate();
                    }
                    return carrier.fetch(input);
                });
        created.start();
        return created;
    }

    private AgentSpec agent(AgentInput input) {
        List<ToolSpec> all = new ArrayList<>(toolSpecs);
        all.addAll(subagents.getOrDefault(input.agent(), List.of()));
        AgentSpec agent = AgentSpec.of(input.agent(), "fake:model", all.toArray(ToolSpec[]::new));
        try {
            return kinds.discovery().complete(change.apply(agent.with()).build(), entries);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Sets the MCP servers for threads that start from now on. */
    WorkflowRig withServers(McpEntry... known) {
        entries = List.of(known);
        return this;
    }

    /** Replaces the worker with one that knows these receivers. */
    WorkflowRig knowing(Receivers known) {
        receivers = known;
        replaceWorker();
        return this;
    }

    /** Changes the agent, for threads that start from now on. */
    WorkflowRig with(UnaryOperator<AgentSpec.Builder> other) {
        change = other;
        return this;
    }

    /** Changes the input of model calls, for workers that do not know all of it. */
    WorkflowRig knowing(UnaryOperator<ModelInput> input) {
        modelInput = input;
        return this;
    }

    /** Sets the subagents of an agent, for threads that start from now on. */
    WorkflowRig withSubagents(String agent, String... names) {
        subagents.put(
                agent,
                Stream.of(names).map(name -> ToolSpec.subagent(name, "Helps.")).toList());
        return this;
    }

    /** Adds this thread, which another thread has started, to the threads that are checked on close. */
    String adopt(String thread) {
        threads.add(thread);
        return thread;
    }

    /** Excludes a thread from the check on close, because it can no longer be read. */
    void disown(String thread) {
        threads.remove(thread);
    }

    /** Replaces the worker with a new one that has nothing cached. */
    void replaceWorker() {
        shutdown();
        factory = newWorker();
    }

    /** Replaces the worker with one that has these tools, as the next build. Its threads keep their agent. */
    void deploy(Tool... next) {
        tools = List.of(next);
        replaceWorker();
    }

    /** The task queue, for other workers that take over work from this one. */
    String taskQueue() {
        return taskQueue;
    }

    /** Until {@link #releaseStates}, runs that fetch the state of the previous run have to wait. */
    void holdStates() {
        stateGate = new CountDownLatch(1);
    }

    void releaseStates() {
        stateGate.countDown();
    }

    /** The number of times that parts of states were requested. */
    int fetchesOfStates() {
        return fetchesOfStates.get();
    }

    private void awaitGate() {
        try {
            stateGate.await();
        } catch (InterruptedException e) {
            throw Activity.wrap(e);
        }
    }

    /** Stops the worker, so that no workflow task or activity runs until {@link #resume}. */
    void suspend() {
        shutdown();
    }

    void resume() {
        factory = newWorker();
    }

    private void shutdown() {
        factory.shutdownNow();
        factory.awaitTermination(5, TimeUnit.SECONDS);
        kinds.close();
    }

    String start(StartInput input) {
        String thread = "thread-" + UUID.randomUUID();
        newStub(thread).start(input);
        threads.add(thread);
        return thread;
    }

    /** Starts a thread that has the id of the subagent's thread for this call, and then the parent thread. */
    String startAbove(String callId, StartInput below, StartInput above) {
        String thread = "thread-" + UUID.randomUUID();
        newStub(adopt(thread + "/" + callId)).start(below);
        newStub(adopt(thread)).start(above);
        return thread;
    }

    private WorkflowStub newStub(String thread) {
        WorkflowOptions.Builder options =
                WorkflowOptions.newBuilder().setTaskQueue(taskQueue).setWorkflowId(thread);
        if (connection.isIndexed()) {
            options.setTypedSearchAttributes(ThreadIndex.starting("").attributes());
        }
        return connection.client().newUntypedWorkflowStub(WireNames.WORKFLOW_TYPE, options.build());
    }

    WorkflowStub stub(String thread) {
        return connection.client().newUntypedWorkflowStub(thread);
    }

    WorkflowClient client() {
        return connection.client();
    }

    Connection connection() {
        return connection;
    }

    /** Sends an update. Between two runs of a thread, the in-memory server says that there is no such thread. */
    Ack update(String thread, String name, Object payload) {
        for (int attempt = 1; ; attempt++) {
            try {
                return stub(thread).update(name, Ack.class, payload);
            } catch (WorkflowNotFoundException e) {
                if (!connection.isInMemory() || attempt == 20) {
                    throw e;
                }
                LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
            }
        }
    }

    /** Sends an update that no worker can answer yet, and returns once the server has it. */
    CompletableFuture<Ack> updateWithoutWorker(String thread, String name, Object payload) {
        String id = UUID.randomUUID().toString();
        WorkflowStub stub = stub(thread);
        CompletableFuture<Ack> answer = CompletableFuture.supplyAsync(() -> stub.startUpdate(
                        UpdateOptions.newBuilder(Ack.class)
                                .setUpdateName(name)
                                .setUpdateId(id)
                                .setWaitForStage(WorkflowUpdateStage.COMPLETED)
                                .build(),
                        payload)
                .getResult());
        PollWorkflowExecutionUpdateRequest known = PollWorkflowExecutionUpdateRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setUpdateRef(UpdateRef.newBuilder()
                        .setUpdateId(id)
                        .setWorkflowExecution(WorkflowExecution.newBuilder().setWorkflowId(thread)))
                .build();
        Awaitility.await()
                .atMost(PATIENCE)
                .ignoreExceptionsMatching(e -> e instanceof StatusRuntimeException failure
                        && failure.getStatus().getCode() == Status.Code.NOT_FOUND)
                .until(() -> connection.stubs().blockingStub().pollWorkflowExecutionUpdate(known) != null);
        return answer;
    }

    /**
     * Sends a signal as no Waymark client would: any payloads, in any encoding, under any name. While a run continues
     * as new, the server refuses signals, so this retries.
     */
    void signalRaw(String thread, String signal, List<Payload> payloads) {
        SignalWorkflowExecutionRequest.Builder request = SignalWorkflowExecutionRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setWorkflowExecution(WorkflowExecution.newBuilder().setWorkflowId(thread))
                .setSignalName(signal)
                .setRequestId(UUID.randomUUID().toString());
        if (!payloads.isEmpty()) {
            request.setInput(Payloads.newBuilder().addAllPayloads(payloads));
        }
        SignalWorkflowExecutionRequest built = request.build();
        Awaitility.await()
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(10))
                .ignoreExceptionsMatching(e -> e instanceof StatusRuntimeException failure
                        && failure.getStatus().getCode() == Status.Code.RESOURCE_EXHAUSTED)
                .until(() -> connection.stubs().blockingStub().signalWorkflowExecution(built) != null);
    }

    /**
     * Completes the thread's pending activity like {@code temporal activity complete}, with this JSON as the result. An
     * empty text means no result.
     */
    void completeByHand(String thread, String json) {
        String activity = connection
                .stubs()
                .blockingStub()
                .describeWorkflowExecution(DescribeWorkflowExecutionRequest.newBuilder()
                        .setNamespace(connection.namespace())
                        .setExecution(WorkflowExecution.newBuilder().setWorkflowId(thread))
                        .build())
                .getPendingActivities(0)
                .getActivityId();
        RespondActivityTaskCompletedByIdRequest.Builder request = RespondActivityTaskCompletedByIdRequest.newBuilder()
                .setNamespace(connection.namespace())
                .setWorkflowId(thread)
                .setActivityId(activity);
        if (!json.isEmpty()) {
            request.setResult(Payloads.newBuilder()
                    .addPayloads(Payload.newBuilder()
                            .putMetadata("encoding", ByteString.copyFromUtf8("json/plain"))
                            .setData(ByteString.copyFromUtf8(json))));
        }
        connection.stubs().blockingStub().respondActivityTaskCompletedById(request.build());
    }

    Timeline timeline(String thread) {
        return histories.read(thread).orElseThrow();
    }

    /** Waits until the state in the thread's history fulfils the condition, and returns that state. */
    Conversation await(String thread, Predicate<Conversation> fits) {
        return polled(() -> timeline(thread).now(), fits);
    }

    Timeline awaitTimeline(String thread, Predicate<Timeline> fits) {
        return polled(() -> timeline(thread), fits);
    }

    /** Each poll reads the whole history, so a long wait polls less and less often. */
    private static <T> T polled(Callable<T> read, Predicate<T> fits) {
        try {
            return Awaitility.await()
                    .atMost(PATIENCE)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(IterativePollInterval.iterative(
                            last -> last.compareTo(LONGEST_PAUSE) < 0 ? last.multipliedBy(2) : last, SHORTEST_PAUSE))
                    .until(read, fits);
        } catch (ConditionTimeoutException e) {
            String message = String.valueOf(e.getMessage());
            throw new AssertionError(message.substring(0, Math.min(message.length(), MOST_WORDS)));
        }
    }

    /** Waits until this turn, or a later one, has ended. */
    Conversation awaitTurn(String thread, int number) {
        return await(
                thread,
                now -> now.turn().number() > number
                        || (now.turn().number() == number && !now.turn().isRunning()));
    }

    /** The audit of the digests over all runs of the thread. */
    DigestAudit audit(String thread) {
        return histories.audit(thread, Long.MAX_VALUE).orElseThrow();
    }

    /** Waits until nothing more happens without input from people. */
    Conversation awaitSettled(String thread) {
        return await(thread, state -> state.turn().number() > 0 && state.isSettled());
    }

    /**
     * Checks that the state of the workflow equals the projection of its history, and that the history replays. Repeats
     * the query if the thread has progressed in between.
     */
    void check(String thread) {
        if (timeline(thread).ending().isEmpty()) {
            // A run that is fetching the state of the previous run cannot answer yet.
            Awaitility.await()
                    .atMost(PATIENCE)
                    .ignoreException(WorkflowQueryException.class)
                    .untilAsserted(() -> {
                        StateReport report = stub(thread).query(WireNames.STATE_QUERY, StateReport.class);
                        Conversation projected = timeline(thread).now();
                        assertThat(report.state()).isEqualTo(StateDigest.of(projected));
                        assertThat(report.digest())
                                .isEqualTo(projected.transcript().digest());
                    });
        }
        boolean terminated = timeline(thread)
                .ending()
                .filter(ending -> ending.kind() == RunEnding.Kind.TERMINATED)
                .isPresent();
        if (!terminated) { // The replayer does not support that event.
            new ThreadHistoryReader(connection.client())
                    .read(thread)
                    .orElseThrow()
                    .runs()
                    .forEach(run -> replay(run.runId(), run.history()));
        }
    }

    private void replay(String runId, WorkflowExecutionHistory history) {
        HistoryCheck.check(history);
        assertThat(replay.replay(history)).as("replay of run " + runId).isEmpty();
    }

    @Override
    public void close() {
        try {
            threads.forEach(this::check);
        } finally {
            replay.close();
            shutdown();
        }
    }
}
