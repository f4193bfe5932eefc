package dev.waymark.worker.operators;

import static dev.waymark.client.AgentResult.assertComplete;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.message.Part;
import dev.waymark.testkit.crash.Crash;
import dev.waymark.testkit.crash.CrashPoint;
import dev.waymark.testkit.crash.Fault;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import dev.waymark.worker.tool.mcp.ToolServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A thread that reads a skill, and finds and uses a deferred tool of an MCP server, while its worker is killed with SIGKILL. */
@Tag("server")
@Tag("full")
@Timeout(180)
class KilledFindsServerTest {
    private static DevServer server;
    private static AgentClient client;
    private static Connection connection;

    @TempDir
    Path directory;

    @BeforeAll
    static void start() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
        client = AgentClient.connect(server.address()).withTimeout(Duration.ofMinutes(2));
        connection = Connection.to(server.address());
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            client.close();
            connection.close();
            server.close();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "MODEL_REPLIED, 1", // The model wants to find a tool, and a skill.
        "REPLY_SAVED, 1", // The worker looks for it, and reads the skill.
        "BEFORE_COMPLETION, 1", // The definitions are found, the skill is read, and the server does not have them.
        "AFTER_COMPLETION, 1", // The server has them.
        "MODEL_REPLIED, 2", // The model wants to use the tool, and nothing is recorded.
        "BEFORE_TOOL_POLL, 1", // The call is recorded under the tool's own name.
        "BEFORE_CLAIM, 1", // The call has arrived in the worker.
        "AFTER_COMPLETION, 2" // The tool has taken effect.
    })
    void workerKilled_chargesOnce(CrashPoint point, int passing) throws Exception {
        Path agents = directory.resolve("agents");
        Files.writeString(
                Files.createDirectories(agents.resolve("skills/billing")).resolve("SKILL.md"),
                "---\nname: billing\ndescription: How to charge\n---\nCharge once.\n");
        Files.writeString(agents.resolve("buyer.yaml"), """
                model: scripted:any
                skills: [./skills]
                tools:
                  - mcp: { name: shop, command: ["%s"], deferred: true }
                  # Gives the server time to save the reply.
                  - { name: rest, command: [sleep, "0.5"], safe_to_retry: true }
                """.formatted(String.join(
                "\", \"", ToolServer.program(directory, Map.of()).command())));
        Path witness = directory.resolve("witness");
        String fault = Fault.at(point).passing(passing).toString();
        String thread;
        try (WorkerProcess process = WorkerProcess.start(
                FindingWorker.class, server.address(), fault, witness.toString(), agents.toString())) {
            thread = client.start(Prompt.of("buyer", "Charge")).thread();
            assertThat(process.diesWithin(Duration.ofMinutes(1))).isTrue();
        }
        assertThat(Crash.witnessed(witness)).isPresent();

        try (AgentWorker worker = FindingWorker.worker(connection, agents)) {
            worker.start();
            assertThat(assertComplete(client.turn(thread).await()).text()).isEqualTo("Charged.");
        }

        Conversation state = client.timeline(thread).now();
        assertThat(Files.readAllLines(directory.resolve("effects"))).hasSize(1);
        List<Part.ToolResult> results = state.transcript().messages().stream()
                .flatMap(message -> message.toolResults().stream())
                .toList();
        assertThat(results).extracting(Part.ToolResult::toolUseId).containsExactly("tu_1", "tu_3", "tu_4", "tu_2");
        assertThat(results.get(1).content()).contains("Charge once.");
        assertThat(state.calls().get("tu_2").orElseThrow().tool()).isEqualTo("shop_charge");
        assertThat(client.inspector().verify(thread).agrees()).isTrue();
    }
}
