package dev.waymark.rehearsal.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.DeferredTools;
import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.message.Ack;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.HistoryReader;
import dev.waymark.timeline.Timeline;
import dev.waymark.tool.JavaTool;
import dev.waymark.tool.Tool;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.agents.AgentDefinitions;
import dev.waymark.worker.agents.AgentDirectory;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.java.JavaTools;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gate, before a build whose tool in Java has another record of arguments. */
@Timeout(180)
class ChangedToolGateTest {
    private static final ModelProviders PROVIDERS = ModelProviders.of(Map.of(
            "fake",
            request -> request.messages()
                            .get(request.messages().size() - 1)
                            .toolResults()
                            .isEmpty()
                    ? Reply.of(new Part.ToolUse("tu_1", "pay", Json.of(Map.of("cents", 50, "to", "ann"))))
                    : Reply.of(new Part.Text("Done."))));

    @TempDir
    Path directory;

    record Payment(int cents, String to) {}

    record Payment2(String iban, int euros) {}

    record NotedPayment(int cents, String to, Optional<String> note) {}

    private static <A extends Record> JavaTool<A> pay(Class<A> type) {
        return JavaTool.of("pay", "Pays", type, (args, context) -> "paid");
    }

    private static AgentSpec agent(Tool tool, boolean deferred) {
        AgentSpec.Builder agent = new AgentSpec.Builder("a", "fake:model");
        return deferred
                ? agent.deferred(DeferredTools.of(List.of(tool.spec()))).build()
                : agent.tools(List.of(tool.spec())).build();
    }

    private AgentDirectory written(String name, Tool tool, boolean deferred) throws Exception {
        Path file = directory.resolve(name);
        AgentDefinitions.write(file, List.of(agent(tool, deferred)));
        return AgentDefinitions.read(file);
    }

    private static List<String> gate(Connection connection, AgentDirectory agents) {
        try (Gate gate = new Gate(
                ServerThreads.named(connection.client(), List.of("thread")),
                Optional.of(AgentFiles.of(agents)),
                AcceptedFindings.NONE,
                new Gate.Listener() {
                    @Override
                    public void checked(int threads, int of) {}

                    @Override
                    public void found(GateReport.Finding finding) {}
                })) {
            return gate.check(1).findings().stream()
                    .map(finding -> finding.kind() + ": " + finding.message())
                    .toList();
        }
    }

    private static void awaitThread(Connection connection, Predicate<Conversation> condition) {
        HistoryReader histories = new HistoryReader(connection.client());
        await().atMost(Duration.ofMinutes(1))
                .until(() -> histories
                        .read("thread")
                        .map(Timeline::now)
                        .filter(condition)
                        .isPresent());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void gate_namesTheChangedSchemaAndTheWaitingCall(boolean deferred) throws Exception {
        JavaTool<Payment> recorded = pay(Payment.class).approval();
        try (InMemoryServer server = InMemoryServer.start(0);
                Connection connection = Connection.to(server.address());
                AgentWorker worker = AgentWorker.builder(connection.client())
                        .taskQueue("q")
                        .agents(agent(recorded, deferred))
                        .providers(PROVIDERS)
                        .tools(JavaTools.of(List.of(recorded)))
                        .build()) {
            worker.start();
            WorkflowStub thread = connection
                    .client()
                    .newUntypedWorkflowStub(
                            WireNames.WORKFLOW_TYPE,
                            WorkflowOptions.newBuilder()
                                    .setTaskQueue("q")
                                    .setWorkflowId("thread")
                                    .build());
            thread.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Pay")));
            awaitThread(connection, now -> now.asks().size() == 1);

            assertThat(gate(connection, written("same.json", pay(Payment.class), deferred)))
                    .isEmpty();
            assertThat(gate(connection, written("fits.json", pay(NotedPayment.class), deferred)))
                    .containsExactly(
                            "tool-changed: pay takes other arguments than the thread has recorded. Different: note");
            assertThat(gate(connection, written("next.json", pay(Payment2.class), deferred)))
                    .hasSize(2)
                    .last()
                    .asString()
                    .startsWith("call-misfit: the waiting call tu_1 of pay {\"cents\": 50, \"to\": \"ann\"} does not"
                            + " match the new schema: ")
                    .contains("iban");

            Path files = Files.createDirectory(directory.resolve("agents"));
            Files.writeString(files.resolve("a.yaml"), """
                    model: fake:model
                    tools:
                      - { name: pay, command: [ "true" ], input: { type: object, required: [ euros ] } }
                    """);
            assertThat(gate(connection, AgentDirectory.load(files, PROVIDERS, JavaTools.NONE)))
                    .hasSize(2)
                    .last()
                    .asString()
                    .contains("euros");

            thread.update(SignalNames.DENY, Ack.class, Map.of("callId", "tu_1"));
            awaitThread(connection, now -> !now.turn().isRunning());
            assertThat(gate(connection, written("next.json", pay(Payment2.class), deferred)))
                    .containsExactly(
                            "tool-changed: pay takes other arguments than the thread has recorded. Different: cents, euros, iban, to");
        }
    }
}
