package dev.waymark.worker.operators;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.StateDigest;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.StateReport;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.RunReader;
import dev.waymark.model.ModelRequest;
import dev.waymark.testkit.HistoryCheck;
import dev.waymark.testkit.crash.CuttableProxy;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.Tool;
import dev.waymark.worker.journal.ClaimJournal;
import dev.waymark.worker.judge.CallJudges;
import dev.waymark.worker.judge.JudgeActivityImpl;
import dev.waymark.worker.metrics.AttemptMetrics;
import dev.waymark.worker.model.LiveReplies;
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
import dev.waymark.worker.workflow.AgentReplay;
import dev.waymark.worker.workflow.AgentWorkflowImpl;
import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.temporal.activity.Activity;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.PendingActivityState;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateException;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/**
 * Workers on a separate task queue, in halves: one half takes workflow tasks, the other runs activities, and each has
 * its own connection to the server. The threads that run here are compared with the ledger.
 */
final class WorkerFleet implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(90);

    private static final Duration POLL = Duration.ofMillis(100);

    private final Connection connection;
    private final ChargeService charges;
    private final HistoryReader histories;
    private final AgentReplay replay = new AgentReplay();
    private final String taskQueue = "fleet-" + UUID.randomUUID();
    private final List<HalfWorker> halves = new ArrayList<>();
    private final Map<String, ToolBarrier> thinking = new ConcurrentHashMap<>();
    private final List<ToolSpec> specs;

    /** {@code connection} is the operator's connection, which is never cut. */
    WorkerFleet(Connection connection, ChargeService charges) {
        this.connection = connection;
        this.charges = charges;
        this.histories = new HistoryReader(connection.client());
        this.specs = charges.tools().stream().map(Tool::spec).toList();
    }

    // ---- workers

    /** The task queue, for workers in separate processes. */
    String taskQueue() {
        return taskQueue;
    }

    /** Makes the model wait before it answers this thread, on any worker, until the barrier opens. */
    ToolBarrier holdThinking(String thread) {
        return thinking.computeIfAbsent(thread, name -> new ToolBarrier());
    }

    private Reply reply(ModelRequest request) throws InterruptedException {
        String thread = Activity.getExecutionContext().getInfo().getWorkflowId();
        if (thinking.containsKey(thread)) {
            thinking.get(thread).pass();
        }
        return ChargeRequest.reply(request);
    }

    /** Starts a half worker that takes workflow tasks and no activities. */
    HalfWorker workflows() {
        return new HalfWorker(true);
    }

    /** Starts a half worker that runs activities and no workflows. */
    HalfWorker activities() {
        return new HalfWorker(false);
    }

    /** Half a worker, on its own connection. */
    final class HalfWorker {
        private final CuttableProxy cable;
        private final Connection own;
        private final WorkerFactory factory;

        private HalfWorker(boolean workflows) {
            try {
                cable = new CuttableProxy(connection.address());
                own = Connection.to(cable.address());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            factory = WorkerFactory.newInstance(own.client());
            Worker worker = factory.newWorker(taskQueue);
            if (workflows) {
                worker.registerWorkflowImplementationTypes(AgentWorkflowImpl.class);
            } else {
                registerActivities(worker);
            }
            factory.start();
            halves.add(this);
        }

        private void registerActivities(Worker worker) {
            RunReader runs = new RunReader(new HistoryReader(own.client()), 1_000);
            ToolRunner tools =
                    new ToolRunner(new ToolKinds(System.getenv(), Path.of("."), JavaTools.of(charges.tools())));
            CallJudges judges = new CallJudges(List.of(), tools);
            worker.registerActivitiesImplementations(
                    new JudgeActivityImpl(runs, judges),
                    (AgentActivity) input -> AgentSpec.of(input.agent(), "fake:model", specs.toArray(ToolSpec[]::new)),
                    new ModelActivityImpl(
                            runs,
                            ModelProviders.of(Map.of("fake", WorkerFleet.this::reply)),
                            judges,
                            new FusedCalls(tools),
                            new LiveReplies(thread -> PayloadJson.dataConverter(own.client(), thread)),
                            new AttemptMetrics(new SimpleMeterRegistry())),
                    new ToolActivity(
                            runs,
                            tools,
                            new ClaimSender(own.client(), new AttemptMetrics(new SimpleMeterRegistry())),
                            new LateOutcomeSender(own.client()),
                            new ClaimJournal("any"),
                            () -> false),
                    new VerifyActivityImpl(runs, tools),
                    new TaskActivityImpl(runs, tools));
        }

        CuttableProxy cable() {
            return cable;
        }

        /**
         * Cuts the connection, so that nothing more is sent, and stops this half at once. Its tools are interrupted.
         */
        void kill() {
            cable.cut();
            stop();
        }

        void stop() {
            factory.shutdownNow();
            factory.awaitTermination(5, TimeUnit.SECONDS);
            own.close();
            cable.close();
            halves.remove(this);
        }
    }

    // ---- threads

    /** An id for a thread that is not started yet, so that barriers for its tools can be set first. */
    static String newThread() {
        return "thread-" + UUID.randomUUID();
    }

    String start(ChargeRequest request) {
        return start(newThread(), request);
    }

    String start(String thread, ChargeRequest request) {
        WorkflowOptions options = WorkflowOptions.newBuilder()
                .setTaskQueue(taskQueue)
                .setWorkflowId(thread)
                .build();
        connection
                .client()
                .newUntypedWorkflowStub(WireNames.WORKFLOW_TYPE, options)
                .start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", request.words())));
        return thread;
    }

    WorkflowStub stub(String thread) {
        return connection.client().newUntypedWorkflowStub(thread);
    }

    Timeline timeline(String thread) {
        return histories.read(thread).orElseThrow();
    }

    Conversation state(String thread) {
        return timeline(thread).now();
    }

    /** Waits until the state in the thread's history fulfils the condition, and returns that state. */
    Conversation await(String thread, Predicate<Conversation> fits) {
        return Awaitility.await(thread).atMost(PATIENCE).pollInterval(POLL).until(() -> state(thread), fits);
    }

    Call awaitCall(String thread, Call.Status status) {
        Conversation state = await(thread, now -> now.batchCalls().stream().anyMatch(call -> call.status() == status));
        return state.batchCalls().stream()
                .filter(call -> call.status() == status)
                .findFirst()
                .orElseThrow();
    }

    Timeline awaitEnding(String thread) {
        return Awaitility.await(thread)
                .atMost(PATIENCE)
                .pollInterval(POLL)
                .until(() -> timeline(thread), now -> now.ending().isPresent());
    }

    void awaitActivityState(String thread, PendingActivityState state) {
        Awaitility.await(thread)
                .atMost(PATIENCE)
                .until(() -> activities(thread).stream().anyMatch(activity -> activity.getState() == state));
    }

    /** The thread's pending activities, as the server reports them. */
    List<PendingActivityInfo> activities(String thread) {
        return histories.describe(thread).orElseThrow().getPendingActivitiesList();
    }

    /** Waits until the operator's connection works again. */
    void awaitServer() {
        Awaitility.await()
                .atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
                .until(() -> connection
                        .stubs()
                        .blockingStub()
                        .getSystemInfo(GetSystemInfoRequest.getDefaultInstance())
                        .isInitialized());
    }

    /** Waits until the thread has a new fact, or until its turn is complete. */
    void awaitProgress(String thread, Duration most) {
        int before = state(thread).counters().facts();
        Awaitility.await(thread)
                .atMost(most)
                .pollInterval(POLL)
                .until(
                        () -> state(thread),
                        now -> now.counters().facts() > before || now.turn().status() == Turn.Status.COMPLETE);
    }

    /** Approves calls that wait for approval and gives up unknown outcomes, until the turn has ended. */
    Conversation attend(String thread) {
        return await(thread, state -> {
            for (Call call : state.waitingCalls()) {
                decide(thread, call);
            }
            return !state.turn().isRunning() && state.turn().number() > 0;
        });
    }

    void decide(String thread, Call call) {
        try {
            if (call.status() == Call.Status.AWAITING) {
                stub(thread).update(SignalNames.APPROVE, Object.class, Map.of("callId", call.id(), "by", "ann"));
            } else {
                stub(thread)
                        .update(SignalNames.SETTLE, Object.class, Map.of("callId", call.id(), "outcome", "give-up"));
            }
        } catch (WorkflowUpdateException e) {
            // The call was decided meanwhile.
        }
    }

    // ---- what must hold

    /**
     * Checks that no effect happened twice, that the thread reports each effect correctly, and that the workflow, its
     * history and a replay have the same state.
     */
    void check(String thread, ChargeRequest request) {
        checkCharges(thread, request);
        state(thread).calls().forEach((id, call) -> checkHonesty(thread, call));
        checkAgreement(thread);
    }

    void checkCharges(String thread, ChargeRequest request) {
        for (int cents = 1; cents <= request.calls(); cents++) {
            assertThat(charges.charged(thread, cents))
                    .as("%s cents of %s, %s", cents, thread, request)
                    .isLessThanOrEqualTo(1);
        }
    }

    private void checkHonesty(String thread, Call call) {
        long charged = charges.charged(thread, ((Number) call.args().field("cents")).intValue());
        switch (call.status()) {
            case COMPLETED -> assertThat(charged).as("%s of %s", call, thread).isEqualTo(1);
            case FAILED, DENIED ->
                assertThat(charged).as("%s of %s", call, thread).isZero();
            case CANCELLED, LOST -> {
                // The call may have charged or not, and the thread claims neither.
            }
            case ISSUED, AWAITING, DISPATCHED, CLAIMED, UNKNOWN, DOUBTED, VERIFYING, UNSETTLED, ASKING ->
                throw new AssertionError("open: " + call + " of " + thread);
        }
    }

    private void checkAgreement(String thread) {
        if (timeline(thread).ending().isEmpty()) {
            Awaitility.await(thread).atMost(PATIENCE).pollInterval(POLL).untilAsserted(() -> {
                StateReport report = stub(thread).query(WireNames.STATE_QUERY, StateReport.class);
                assertThat(report.state()).isEqualTo(StateDigest.of(state(thread)));
            });
        }
        timeline(thread).moments().stream()
                .map(moment -> moment.runId())
                .distinct()
                .forEach(run -> replay(thread, run));
    }

    private void replay(String thread, String run) {
        WorkflowExecutionHistory history = connection.client().fetchHistory(thread, run);
        HistoryCheck.check(history);
        assertThat(replay.replay(history))
                .as("replay of run %s of %s", run, thread)
                .isEmpty();
    }

    WorkflowExecution execution(String thread) {
        return WorkflowExecution.newBuilder().setWorkflowId(thread).build();
    }

    Connection connection() {
        return connection;
    }

    void kill() {
        List.copyOf(halves).forEach(HalfWorker::kill);
    }

    @Override
    public void close() {
        replay.close();
        kill();
    }
}
