package dev.waymark.bench.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ToolSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.history.HistoryReader;
import dev.waymark.model.ModelProvider;
import dev.waymark.testkit.EffectLedger;
import dev.waymark.testkit.RecordingTool;
import dev.waymark.testkit.crash.CuttableProxy;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.Tool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Faults around a worker that is not killed: a host that is frozen until after the fence's deadline and then resumes,
 * and a server that is unreachable or far away. No effect happens twice, and an outcome is unknown only if nothing can determine it.
 */
@Tag("server")
@Tag("full")
@Execution(ExecutionMode.CONCURRENT)
class WorldFaultsServerTest {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Json INPUT =
            Json.of(Map.of("type", "object", "properties", Map.of("item", Map.of("type", "string"))));
    private static final String ASK = "exec 3<>/dev/tcp/127.0.0.1/$LEDGER_PORT; ";
    private static final String EFFECT = ASK
            + "printf 'effect %s %s %s\\n' \"$WAYMARK_IDEMPOTENCY_KEY\" \"$WAYMARK_CALL_ID\" \"$WAYMARK_FENCING_TOKEN\" >&3;"
            + " read -r answer <&3; ";
    private static final String ANSWER =
            "read -r answer <&3; if [ \"$answer\" = yes ]; then echo '{\"landed\":true}'; else echo '{\"landed\":false}'; fi";
    private static final String LOOK = ASK + "printf 'landed %s\\n' \"$WAYMARK_IDEMPOTENCY_KEY\" >&3; " + ANSWER;
    private static final String FORBID =
            ASK + "printf 'forbid %s %s\\n' \"$WAYMARK_IDEMPOTENCY_KEY\" \"$WAYMARK_FENCING_TOKEN\" >&3; " + ANSWER;

    @TempDir
    Path directory;

    private KillableServer server;
    private Connection connection;
    private EffectLedger ledger;

    @BeforeEach
    void open() throws Exception {
        Optional<Path> found = TemporalBinary.find();
        assumeTrue(found.isPresent(), "no temporal binary: tests on the real server are skipped");
        Path database = directory.resolve("temporal.db");
        server = KillableServer.start(
                found.get(), port -> DevServer.temporal(found.get(), Optional.of(database), port, 0));
        connection = Connection.to(server.address());
        ledger = EffectLedger.open(directory.resolve("ledger"));
    }

    @AfterEach
    void close() {
        if (server != null) {
            ledger.close();
            connection.close();
            server.close();
        }
    }

    /**
     * Returns two programs. When one of them runs for the first time, it creates the directory {@code began} and pauses
     * before its effect.
     */
    static ToolSpec[] programs(int ledgerPort, String directory) {
        String slowOnce = "mkdir " + directory + "/began && sleep 3; ";
        return new ToolSpec[] {
            program("forbidding", ledgerPort, slowOnce + EFFECT + "[ \"$answer\" = done ] && echo done")
                    .verify("bash", "-c", FORBID)
                    .verifyForbids()
                    .build(),
            program("looking", ledgerPort, slowOnce + EFFECT + "echo done")
                    .verify("bash", "-c", LOOK)
                    .build(),
        };
    }

    private static ToolSpec.Builder program(String name, int ledgerPort, String script) {
        return ToolSpec.command(name, "bash", "-c", script)
                .describedAs("Has an effect", INPUT)
                .env(Map.of("LEDGER_PORT", Integer.toString(ledgerPort)))
                .timeout(Duration.ofSeconds(8));
    }

    /** Creates a worker with two agents for every tool: one makes one call, the other makes five calls at once. */
    static AgentWorker worker(WorkflowClient client, String taskQueue, ToolSpec[] specs, Tool... tools) {
        AgentSpec[] agents = Stream.concat(
                        Arrays.stream(specs), Arrays.stream(tools).map(Tool::spec))
                .flatMap(spec -> Stream.of(1, 5)
                        .map(calls -> AgentSpec.of(spec.name() + calls, spec.name() + calls + ":scripted", spec)))
                .toArray(AgentSpec[]::new);
        Map<String, ModelProvider> models = new LinkedHashMap<>();
        for (AgentSpec agent : agents) {
            String name = agent.name();
            int calls = name.charAt(name.length() - 1) - '0';
            models.put(name, calling(name.substring(0, name.length() - 1), calls));
        }
        return AgentWorker.builder(client)
                .taskQueue(taskQueue)
                .agents(agents)
                .providers(ModelProviders.of(models))
                .tools(JavaTools.of(tools))
                .build();
    }

    /** Returns a model that calls the tool, and repeats its calls after a single error, as real models do. */
    private static ModelProvider calling(String tool, int calls) {
        return request -> {
            long errors = request.messages().stream()
                    .flatMap(message -> message.toolResults().stream())
                    .filter(result -> result.isError() && result.content().startsWith("Tool error"))
                    .count();
            boolean isNew = request.messages().stream()
                    .allMatch(message -> message.toolResults().isEmpty());
            return isNew || errors == 1
                    ? Reply.of(IntStream.rangeClosed(1, calls)
                            .mapToObj(n -> new Part.ToolUse("tu_" + n, tool, Json.of(Map.of("item", "n" + n))))
                            .toArray(Part[]::new))
                    : Reply.of(new Part.Text("Done."));
        };
    }

    private String start(String agent, String taskQueue) {
        String thread = agent + "-" + UUID.randomUUID();
        connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(taskQueue)
                                .setWorkflowId(thread)
                                .build())
                .start(StartInput.of(agent).saying(PersonFact.UserSpoke.message("m-1", "Go")));
        return thread;
    }

    private Conversation await(String thread, Predicate<Conversation> fits) {
        HistoryReader histories = new HistoryReader(connection.client());
        return Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(200))
                .ignoreExceptions()
                .until(() -> histories.read(thread).map(Timeline::now).orElseThrow(), fits);
    }

    private static boolean isOver(Conversation state) {
        return state.turn().number() > 0 && !state.turn().isRunning();
    }

    private static Call call(Conversation state, String id) {
        return state.calls().get(id).orElseThrow();
    }

    // ---- a host that freezes

    @Test
    void frozenHost_resumedAfterTheRerun_hasNoSecondEffect() throws Exception {
        Conversation state = freeze("forbidding1");

        assertThat(call(state, "tu_1").status())
                .as(() -> state.calls() + " " + state.transcript().messages())
                .isEqualTo(Call.Status.COMPLETED);
        assertThat(call(state, "tu_1").dispatches()).isEqualTo(2);
        assertThat(ledger.effects()).hasSize(1);
    }

    @Test
    void frozenHost_checkWithoutFence_isUnknownAndNotRunAgain() throws Exception {
        Conversation state = freeze("looking1");

        assertThat(call(state, "tu_1").status()).isEqualTo(Call.Status.LOST);
        assertThat(ledger.effects()).hasSizeLessThanOrEqualTo(1);
    }

    /**
     * Freezes the worker, the launcher and the program until another worker has completed the turn after the fence's
     * deadline, and then resumes them.
     */
    private Conversation freeze(String agent) throws Exception {
        Path began = directory.resolve("began");
        try (WorkerProcess frozen = FrozenWorker.start(server.address(), agent, ledger.port(), directory.toString())) {
            String thread = start(agent, agent);
            Awaitility.await().atMost(PATIENCE).until(() -> Files.exists(began));
            frozen.suspend();
            try (AgentWorker other =
                    worker(connection.client(), agent, programs(ledger.port(), directory.toString()))) {
                other.start();
                Conversation state = await(thread, WorldFaultsServerTest::isOver);
                frozen.resume();
                // Resumed processes continue at once, so a short wait suffices.
                pass(Duration.ofSeconds(5));
                return state;
            }
        }
    }

    /** Waits, to see that nothing happens, or to make a tool slow. */
    private static void pass(Duration time) {
        Awaitility.await().atMost(time.plusMinutes(1)).pollDelay(time).until(() -> true);
    }

    // ---- a server that is away

    /** The shorter outage is below the heartbeat timeout of claimed calls, the longer one above it. */
    @ParameterizedTest
    @ValueSource(ints = {10, 20})
    void temporarilyUnreachableServer_losesNoCall(int seconds) throws Exception {
        RecordingTool slow = RecordingTool.of("slow", ledger.port())
                .with(spec -> spec.timeout(Duration.ofSeconds(60)))
                .inTheMiddle(() -> pass(Duration.ofSeconds(8)));
        try (AgentWorker worker = worker(connection.client(), "slow", new ToolSpec[0], slow)) {
            worker.start();
            String thread = start("slow5", "slow");
            await(
                    thread,
                    state -> state.batchCalls().stream()
                                    .filter(call -> call.status() == Call.Status.CLAIMED)
                                    .count()
                            == 5);

            server.close();
            pass(Duration.ofSeconds(seconds));
            server.restart();
            Conversation state = await(thread, WorldFaultsServerTest::isOver);

            assertThat(state.calls().get("tu_5")).isPresent();
            state.calls().forEach((id, call) -> assertThat(call.status()).isEqualTo(Call.Status.COMPLETED));
            assertThat(ledger.effects()).hasSize(5);
        }
    }

    // ---- a server that is far away

    /**
     * If each heartbeat waited for the previous one, the heartbeats of all calls would together take longer than the
     * heartbeat timeout.
     */
    @Test
    void slowConnection_manyConcurrentCalls_losesNone() throws Exception {
        RecordingTool slow = RecordingTool.of("slow", ledger.port())
                .with(spec -> spec.timeout(Duration.ofSeconds(90)))
                .inTheMiddle(() -> pass(Duration.ofSeconds(25)));
        try (CuttableProxy proxy = new CuttableProxy(server.address(), Duration.ofMillis(300));
                Connection far = Connection.to(proxy.address());
                AgentWorker worker = worker(far.client(), "far", new ToolSpec[0], slow)) {
            worker.start();
            List<String> threads =
                    IntStream.range(0, 10).mapToObj(n -> start("slow5", "far")).toList();

            for (String thread : threads) {
                await(thread, WorldFaultsServerTest::isOver)
                        .calls()
                        .forEach((id, call) -> assertThat(call.status()).isEqualTo(Call.Status.COMPLETED));
                // A late outcome would also complete the calls, so check that no activity timed out.
                assertThat(connection.client().fetchHistory(thread).getEvents())
                        .noneMatch(HistoryEvent::hasActivityTaskTimedOutEventAttributes);
            }
            assertThat(ledger.effects()).hasSize(50);
        }
    }
}
