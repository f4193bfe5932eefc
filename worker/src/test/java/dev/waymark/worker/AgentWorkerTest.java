package dev.waymark.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ConnectionException;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.model.ModelProvider;
import dev.waymark.tool.JavaTool;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.model.scripted.ScriptedProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class AgentWorkerTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private static InMemoryServer server;
    private static Connection connection;

    record Nothing() {}

    @BeforeAll
    static void connect() throws Exception {
        server = InMemoryServer.start(0);
        connection = Connection.to(server.address());
    }

    @AfterAll
    static void disconnect() {
        connection.close();
        server.close();
    }

    @Test
    void exampleAgents_weather_runsItsProgramTwice() throws Exception {
        Path directory = Path.of("..", "agents");
        ModelProviders providers = ModelProviders.of(Map.of(
                ScriptedProvider.NAME,
                new ScriptedProvider(directory),
                AnthropicProvider.NAME,
                AnthropicProvider.of(Map.of()),
                "openai",
                OpenAiProvider.of(Map.of())));
        AgentDirectory agents = AgentDirectory.load(directory, providers, JavaTools.NONE);
        try (AgentWorker worker = AgentWorker.builder(connection.client())
                .taskQueue("examples")
                .agents(agents)
                .providers(providers)
                .build()) {
            worker.start();
            RunOutcome outcome =
                    start("examples", "weather", "What is the weather?").getResult(RunOutcome.class);
            assertThat(outcome.status()).isEqualTo("complete");
            assertThat(outcome.text()).isEqualTo("Lisbon is sunny, and in Bergen it rains.");
        }
    }

    @Test
    void drain_toolRunning_finishesItAndRecordsItsResult() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        JavaTool<Nothing> slow = JavaTool.of("slow", "Takes long", Nothing.class, (args, context) -> {
                    running.countDown();
                    mayEnd.await();
                    return "slowly done";
                })
                .safeToRetry();
        AgentWorker worker = worker("draining", slow);
        worker.start();
        WorkflowStub thread = start("draining", "a", "Go");
        running.await();

        CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(() -> worker.drain(LONG));
        mayEnd.countDown();

        assertThat(drained.get()).isTrue();
        AgentWorker next = worker("draining", slow);
        next.start();
        RunOutcome outcome = thread.getResult(RunOutcome.class);
        next.close();
        assertThat(outcome.text()).isEqualTo("The tool said: slowly done");
        assertThat(running.getCount()).isZero();
    }

    @Test
    void drain_toolThatTakesTooLong_interruptsIt() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        AtomicBoolean interrupted = new AtomicBoolean();
        JavaTool<Nothing> endless = JavaTool.of("slow", "Takes long", Nothing.class, (args, context) -> {
                    running.countDown();
                    try {
                        Thread.sleep(Long.MAX_VALUE);
                    } catch (InterruptedException e) {
                        interrupted.set(true);
                        throw e;
                    }
                    return "";
                })
                .safeToRetry();
        AgentWorker worker = worker("endless", endless);
        worker.start();
        start("endless", "a", "Go");
        running.await();

        assertThat(worker.drain(Duration.ofMillis(200))).isFalse();
        await().atMost(LONG).untilTrue(interrupted);
    }

    @Test
    void drain_idle_endsSoon() {
        AgentWorker worker = worker("idle", JavaTool.of("slow", "Takes long", Nothing.class, (args, context) -> ""));
        worker.start();
        long start = System.nanoTime();
        assertThat(worker.drain(LONG)).isTrue();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }

    /** A worker whose model calls the tool once, and then repeats its result. */
    private static AgentWorker worker(String taskQueue, JavaTool<Nothing> tool) {
        ModelProvider model = request -> {
            Message last = request.messages().get(request.messages().size() - 1);
            return last.toolResults().isEmpty()
                    ? Reply.of(new Part.ToolUse("tu_1", tool.spec().name(), Json.EMPTY_OBJECT))
                    : Reply.of(new Part.Text(
                            "The tool said: " + last.toolResults().get(0).content()));
        };
        return AgentWorker.builder(connection.client())
                .taskQueue(taskQueue)
                .agents(AgentSpec.of("a", "test:model", tool.spec()))
                .providers(ModelProviders.of(Map.of("test", model)))
                .tools(JavaTools.of(List.of(tool)))
                .build();
    }

    private static WorkflowStub start(String taskQueue, String agent, String words) {
        WorkflowStub thread = connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(taskQueue)
                                .setWorkflowId(taskQueue + "-thread")
                                .build());
        thread.start(StartInput.of(agent).closingAfterOneTurn().saying(PersonFact.UserSpoke.message("m-1", words)));
        return thread;
    }

    @Test
    void serverGoneBeforeTheWorkerIsBuilt_isReportedInOneLine() throws Exception {
        try (InMemoryServer leaving = InMemoryServer.start(0);
                Connection left = Connection.to(leaving.address())) {
            AgentWorker.Builder worker = AgentWorker.on(left).agents(AgentSpec.of("a", "fake:model"));
            leaving.close();

            assertThatThrownBy(worker::build)
                    .isInstanceOf(ConnectionException.class)
                    .hasMessage("no Temporal server answers: " + left.address() + " (UNAVAILABLE)");
        }
    }
}
