package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.list.Progress;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ConnectionException;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.ThreadIndex;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.call.TurnEnd;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.examples.ApprovingTable;
import dev.waymark.e2e.examples.ClosingTable;
import dev.waymark.e2e.examples.LongEvening;
import dev.waymark.e2e.examples.RemoteTable;
import dev.waymark.e2e.examples.TableHeader;
import dev.waymark.e2e.product.TableContext;
import dev.waymark.offline.OfflineThread;
import dev.waymark.testkit.ScriptedModel;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.timeline.Moment;
import dev.waymark.tool.ToolMethod;
import dev.waymark.worker.Agent;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.TemporalBinary;
import dev.waymark.workflow.AgentOutcome;
import dev.waymark.workflow.AgentTask;
import dev.waymark.workflow.ChildThread;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.nexus.v1.EndpointSpec;
import io.temporal.api.nexus.v1.EndpointTarget;
import io.temporal.api.operatorservice.v1.CreateNexusEndpointRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowExecutionDescription;
import io.temporal.client.WorkflowFailedException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.common.interceptors.WorkerInterceptorBase;
import io.temporal.common.interceptors.WorkflowInboundCallsInterceptor;
import io.temporal.common.interceptors.WorkflowInboundCallsInterceptorBase;
import io.temporal.common.interceptors.WorkflowOutboundCallsInterceptor;
import io.temporal.common.interceptors.WorkflowOutboundCallsInterceptorBase;
import io.temporal.failure.CanceledFailure;
import io.temporal.serviceclient.OperatorServiceStubs;
import io.temporal.serviceclient.OperatorServiceStubsOptions;
import io.temporal.testing.WorkflowReplayer;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.workflow.QueryMethod;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Threads in workflows of another program, which has its own worker without a cache, so that every task replays, with
 * its own interceptors and context propagators.
 */
@Tag("full")
@Tag("server")
@Timeout(120)
class OwnWorkflowServerTest {
    private static final String OWN_QUEUE = "restaurant";
    private static final Path RECORDED = Path.of("src/test/resources/own-workflow/closing-table.json");

    @TempDir
    Path directory;

    private ChildProcess server;
    private String address;
    private Connection connection;
    private WorkflowClient own;
    private WorkerFactory restaurant;
    private AgentWorker agents;
    private AgentClient people;
    private final Queue<String> charged = new ConcurrentLinkedQueue<>();
    private final Queue<String> started = new ConcurrentLinkedQueue<>();
    private Optional<RunLimits> limits = Optional.empty();

    record Charge(int cents) {}

    @ToolMethod(description = "Charges a card", approval = true)
    String charge(Charge charge) {
        charged.add(charge.cents() + " cents, " + TableContext.VALUE.get());
        return "charged";
    }

    @BeforeEach
    void start() throws Exception {
        start(Duration.ZERO);
    }

    /** @param ahead of the server's clock, if the server is one of {@code .ci/weekly} */
    private void start(Duration ahead) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        server = nexusServer(binary.get(), ahead);
        own = WorkflowClient.newInstance(
                connection.stubs(),
                connection.client().getOptions().toBuilder()
                        .setContextPropagators(List.of(new TableContext()))
                        .build());
        restaurant = WorkerFactory.newInstance(
                own,
                WorkerFactoryOptions.newBuilder()
                        .setWorkflowCacheSize(0)
                        .setWorkerInterceptors(new Watching(), new TableHeader())
                        .build());
        Worker worker = restaurant.newWorker(OWN_QUEUE);
        worker.registerWorkflowImplementationTypes(
                ClosingTable.Steps.class,
                ApprovingTable.Steps.class,
                LongEvening.Steps.class,
                RemoteTable.Steps.class,
                PatientTable.Steps.class);
        restaurant.start();
        agents = agents();
        people = AgentClient.connect(address);
    }

    /** Not the server of dev, which has Nexus turned off. Connects to it. */
    private ChildProcess nexusServer(Path binary, Duration ahead) throws Exception {
        while (true) {
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                address = "127.0.0.1:" + free.getLocalPort();
            }
            ChildProcess starting = ChildProcess.of(
                            binary.toString(),
                            "server",
                            "start-dev",
                            "--headless",
                            "--db-filename",
                            directory.resolve("db").toString(),
                            "--port",
                            address.substring(address.indexOf(':') + 1))
                    .environment(Map.of("CLOCK_AHEAD", Long.toString(ahead.toSeconds())))
                    .start();
            while (starting.handle().isAlive()) {
                try {
                    connection = Connection.to(address);
                    return starting;
                } catch (ConnectionException e) {
                    Thread.sleep(100);
                }
            }
            // Another program has taken the port meanwhile.
        }
    }

    private AgentWorker agents() {
        ScriptedModel billing = ScriptedModel.of(
                Reply.of(new Part.ToolUse("tu_1", "charge", Json.of(Map.of("cents", 8400)))),
                Reply.of(new Part.Text("Settled.")),
                Reply.of(new Part.Text("Thanks.")),
                Reply.of(new Part.Text("Cheers.")));
        return AgentWorker.builder(own)
                .provider("script", billing)
                .agent(Agent.named("billing").model("script:x").tools(this).build())
                .nexus()
                .interceptors(new TableHeader())
                .build()
                .start();
    }

    @AfterEach
    void stop() {
        if (people != null) {
            people.close();
            agents.close();
            restaurant.shutdownNow();
            connection.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private <T> T workflow(Class<T> type, String id) {
        TableContext.VALUE.set("table nine");
        return own.newWorkflowStub(
                type,
                WorkflowOptions.newBuilder()
                        .setTaskQueue(OWN_QUEUE)
                        .setWorkflowId(id)
                        .build());
    }

    private void awaitInterrupted(String thread) {
        await().atMost(Duration.ofMinutes(1))
                .ignoreExceptions()
                .until(() -> people.turn(thread).await() instanceof AgentResult.Interrupted);
    }

    private void awaitCancelled(String thread) {
        await().atMost(Duration.ofMinutes(1)).until(() -> people.turn(thread).await() instanceof AgentResult.Cancelled);
    }

    @Test
    void thread_inOwnWorkflow_endsTurnsAsPeopleDecide(TestInfo test) throws Exception {
        ClosingTable table = workflow(ClosingTable.class, "closing-9");
        WorkflowClient.start(table::close, 9);
        awaitInterrupted("table-9");
        assertThat(people.lists().threads(Progress.NONE))
                .anySatisfy(thread -> assertThat(thread.waiting()).hasSize(1));

        people.approve("table-9");

        assertThat(WorkflowStub.fromTyped(table).getResult(String.class)).isEqualTo("Settled. Thanks.");
        assertThat(charged).containsExactly("8400 cents, table nine");
        assertThat(started).contains(WireNames.WORKFLOW_TYPE);
        WorkflowExecutionHistory history = own.fetchHistory("closing-9");
        WorkflowReplayer.replayWorkflowExecution(history, ClosingTable.Steps.class);
        if (Boolean.getBoolean("own.record")) {
            Files.writeString(RECORDED, history.toJson(true));
        }
    }

    /** Fails if a later Waymark would make the histories of other people's workflows unusable. */
    @Test
    void ownWorkflow_recordedEarlier_replays() throws Exception {
        WorkflowReplayer.replayWorkflowExecution(
                WorkflowExecutionHistory.fromJson(Files.readString(RECORDED)), ClosingTable.Steps.class);
    }

    @Test
    void ownWorkflow_approvesSmallSumsItself() {
        assertThat(workflow(ApprovingTable.class, "small").close(4, 10_000)).isEqualTo("complete: Settled.");
        assertThat(charged).hasSize(1);
    }

    @Test
    void ownWorkflow_cancelled_cancelsItsThread() {
        ApprovingTable table = workflow(ApprovingTable.class, "cancelled");
        WorkflowClient.start(table::close, 5, 0);
        awaitInterrupted("table-5");

        WorkflowStub.fromTyped(table).cancel();

        assertThatThrownBy(() -> WorkflowStub.fromTyped(table).getResult(String.class))
                .isInstanceOf(WorkflowFailedException.class)
                .hasCauseInstanceOf(CanceledFailure.class);
        awaitCancelled("table-5");
        assertThat(charged).isEmpty();
    }

    @Test
    void thread_cancelledByAPerson_isAnOutcomeOfOwnWorkflow() {
        ApprovingTable table = workflow(ApprovingTable.class, "left");
        WorkflowClient.start(table::close, 6, 0);
        awaitInterrupted("table-6");

        people.cancel("table-6");

        assertThat(WorkflowStub.fromTyped(table).getResult(String.class)).startsWith("cancelled: ");
    }

    @Test
    void bothSides_continueAsNew_andGoOn() {
        limits = Optional.of(RunLimits.DEFAULT.withSoftEvents(12));
        LongEvening evening = workflow(LongEvening.class, "long");
        WorkflowClient.start(evening::serve, 3, Optional.empty());
        awaitInterrupted("evening");

        people.approve("evening");

        // The first round ends when the thread asks, and the second when its turn ends.
        assertThat(WorkflowStub.fromTyped(evening).getResult(String.class)).isNotEmpty();
        // A server delays the next run after a short one.
        own.newUntypedWorkflowStub("evening").getResult(Json.class);
        assertThat(newestFirst("long")).hasSize(3);
        List<String> runs = newestFirst("evening");
        assertThat(runs).hasSizeGreaterThan(1);
        assertThat(OfflineThread.of(runs, Map.of()).timeline().moments().stream()
                        .map(Moment::runId)
                        .distinct())
                .hasSameSizeAs(runs);
    }

    /** The histories of all runs of a workflow. */
    private List<String> newestFirst(String workflow) {
        List<String> histories = new ArrayList<>();
        String run =
                own.newUntypedWorkflowStub(workflow).describe().getExecution().getRunId();
        while (!run.isEmpty()) {
            WorkflowExecutionHistory history = own.fetchHistory(workflow, run);
            histories.add(history.toJson(true));
            run = history.getEvents()
                    .get(0)
                    .getWorkflowExecutionStartedEventAttributes()
                    .getContinuedExecutionRunId();
        }
        return histories;
    }

    /** The first task of a workflow begins with the signals that it was sent until then. */
    @Test
    void reportBeforeTheFirstTaskOfTheNextRun_counts() {
        people.start(Prompt.of("billing", "Good evening").withThread("evening"));
        Json carried = Json.of(Map.of("id", "evening", "awaited", 0, "latest", report(0), "isOld", true));
        WorkflowStub evening = WorkflowStub.fromTyped(workflow(LongEvening.class, "next"));

        evening.signalWithStart(
                SignalNames.SUBAGENT,
                new Object[] {Map.of("callId", "evening", "report", report(1))},
                new Object[] {1, Optional.of(carried)});

        assertThat(evening.getResult(String.class)).isEqualTo("Turn 1");
    }

    private static Map<String, Object> report(int turn) {
        SubagentProgress none = SubagentProgress.NONE;
        Optional<TurnEnd> end = Optional.of(turn)
                .filter(known -> known > 0)
                .map(known -> new TurnEnd(known, "complete", "Turn " + known, Optional.empty()));
        return PayloadJson.MAPPER.convertValue(
                new SubagentProgress(false, none.asks(), none.spent(), end), new TypeReference<>() {});
    }

    @Test
    void signals_thatAreNoReports_areIgnored() {
        ApprovingTable table = workflow(ApprovingTable.class, "strange");
        WorkflowClient.start(table::close, 5, 0);
        awaitInterrupted("table-5");

        WorkflowStub stub = WorkflowStub.fromTyped(table);
        stub.signal(SignalNames.SUBAGENT);
        stub.signal(SignalNames.SUBAGENT, (Object) null);
        stub.signal(SignalNames.SUBAGENT, "strange");
        stub.signal(SignalNames.SUBAGENT, Map.of("callId", "table-5"));
        people.approve("table-5");

        assertThat(stub.getResult(String.class)).isEqualTo("complete: Settled.");
    }

    @WorkflowInterface
    public interface PatientTable {
        @WorkflowMethod
        void close(int table);

        /** A workflow that was cancelled has no result. */
        @QueryMethod
        List<String> seen();

        /** If it is cancelled, it gives the thread a little more time. */
        final class Steps implements PatientTable {
            private final List<String> seen = new ArrayList<>();

            @Override
            public void close(int table) {
                AgentTask task = AgentTask.of("billing", "Settle the bill");
                ChildThread thread = ChildThread.start(
                        "table-" + table, task, options -> options.setTypedSearchAttributes(task.searchAttributes()));
                seen.add(thread.await().status());
                try {
                    Workflow.sleep(Duration.ofDays(1));
                } catch (CanceledFailure e) {
                    Workflow.newDetachedCancellationScope(() -> end(thread)).run();
                }
            }

            private void end(ChildThread thread) {
                seen.add(thread.await(Duration.ofSeconds(2))
                        .map(AgentOutcome::status)
                        .orElse("open"));
                thread.cancel();
                seen.add(thread.await().status());
            }

            @Override
            public List<String> seen() {
                return seen;
            }
        }
    }

    @Test
    void ownWorkflow_cancelledInAnotherStep_seesTheThreadGoOn() {
        connection.searchIndex().create();
        PatientTable table = workflow(PatientTable.class, "patient");
        WorkflowClient.start(table::close, 11);
        awaitInterrupted("table-11");
        assertThat(index("table-11")).contains(new ThreadIndex("billing", "interrupted", List.of("approval")));
        await().atMost(Duration.ofMinutes(1))
                .until(() -> own.fetchHistory("patient").getEvents().stream()
                        .anyMatch(HistoryEvent::hasTimerStartedEventAttributes));

        WorkflowStub.fromTyped(table).cancel();

        assertThatThrownBy(() -> WorkflowStub.fromTyped(table).getResult(Void.class))
                .isInstanceOf(WorkflowFailedException.class);
        assertThat(table.seen()).containsExactly("interrupted", "open", "cancelled");
    }

    private Optional<ThreadIndex> index(String thread) {
        return ThreadIndex.in(own.newUntypedWorkflowStub(thread).describe().getTypedSearchAttributes());
    }

    @Test
    void nexusOperation_overARestartOfTheWorker_returnsTheResult() throws Exception {
        connection.searchIndex().create();
        endpoint();
        RemoteTable table = workflow(RemoteTable.class, "remote");
        WorkflowClient.start(table::close, 7);
        awaitInterrupted("remote-7");
        agents.close();
        agents = agents();

        people.approve("remote-7");

        assertThat(WorkflowStub.fromTyped(table).getResult(String.class)).isEqualTo("complete: Settled.");
        assertThat(charged).containsExactly("8400 cents, table nine");
        assertThat(index("remote-7")).contains(new ThreadIndex("billing", "complete", List.of()));
    }

    @Test
    void nexusOperation_withTheIdOfAThread_failsAndChargesNothing() {
        endpoint();
        WorkflowClient.start(workflow(RemoteTable.class, "remote")::close, 12);
        awaitInterrupted("remote-12");
        assertFails(workflow(RemoteTable.class, "remote-again"), 12);
        people.approve("remote-12");
        own.newUntypedWorkflowStub("remote").getResult(String.class);

        assertFails(workflow(RemoteTable.class, "remote-later"), 12);

        assertThat(charged).hasSize(1);
    }

    private static void assertFails(RemoteTable table, int number) {
        assertThatThrownBy(() -> table.close(number))
                .isInstanceOf(WorkflowFailedException.class)
                .hasStackTraceContaining("already");
    }

    @Test
    void nexusOperation_afterThreeWeeks_returnsTheResult() throws Exception {
        Assumptions.assumeTrue(
                System.getenv("CLOCK_CAN_BE_AHEAD") != null, "the clock of this Temporal server cannot be set ahead");
        endpoint();
        WorkflowClient.start(workflow(RemoteTable.class, "remote")::close, 10);
        awaitInterrupted("remote-10");
        stop();

        start(Duration.ofDays(21));
        people.approve("remote-10");

        WorkflowStub table = own.newUntypedWorkflowStub("remote");
        assertThat(table.getResult(String.class)).isEqualTo("complete: Settled.");
        assertThat(charged).containsExactly("8400 cents, table nine");
        WorkflowExecutionDescription times = table.describe();
        assertThat(Duration.between(times.getStartTime(), times.getCloseTime())).isGreaterThan(Duration.ofDays(21));
    }

    @Test
    void nexusOperation_cancelled_cancelsItsThread() {
        endpoint();
        RemoteTable table = workflow(RemoteTable.class, "remote");
        WorkflowClient.start(table::close, 8);
        awaitInterrupted("remote-8");

        WorkflowStub.fromTyped(table).cancel();

        awaitCancelled("remote-8");
        assertThatThrownBy(() -> WorkflowStub.fromTyped(table).getResult(String.class))
                .isInstanceOf(WorkflowFailedException.class);
    }

    private void endpoint() {
        OperatorServiceStubs operator = OperatorServiceStubs.newServiceStubs(
                OperatorServiceStubsOptions.newBuilder().setTarget(address).validateAndBuildWithDefaults());
        operator.blockingStub()
                .createNexusEndpoint(CreateNexusEndpointRequest.newBuilder()
                        .setSpec(EndpointSpec.newBuilder()
                                .setName("agents")
                                .setTarget(EndpointTarget.newBuilder()
                                        .setWorker(EndpointTarget.Worker.newBuilder()
                                                .setNamespace(connection.namespace())
                                                .setTaskQueue(WireNames.TASK_QUEUE))))
                        .build());
        operator.shutdownNow();
    }

    /** An interceptor of the other program. Can lower the limits of the threads that it starts. */
    private final class Watching extends WorkerInterceptorBase {
        @Override
        public WorkflowInboundCallsInterceptor interceptWorkflow(WorkflowInboundCallsInterceptor next) {
            return new WorkflowInboundCallsInterceptorBase(next) {
                @Override
                public void init(WorkflowOutboundCallsInterceptor outbound) {
                    super.init(new WorkflowOutboundCallsInterceptorBase(outbound) {
                        @Override
                        public <R> ChildWorkflowOutput<R> executeChildWorkflow(ChildWorkflowInput<R> input) {
                            started.add(input.getWorkflowType());
                            limits.ifPresent(low -> ((ObjectNode) input.getArgs()[0])
                                    .set("limits", PayloadJson.MAPPER.valueToTree(low)));
                            return super.executeChildWorkflow(input);
                        }
                    });
                }
            };
        }
    }
}
