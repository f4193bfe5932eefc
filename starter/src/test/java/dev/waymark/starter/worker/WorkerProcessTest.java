package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.contract.PayloadJson;
import dev.waymark.starter.Main;
import dev.waymark.testkit.process.ChildProcess;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands as processes, and checks what they print when they are ready, and how they end. */
@Timeout(120)
@Tag("full")
class WorkerProcessTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    Path directory;

    @BeforeEach
    void agent() throws IOException {
        Files.createDirectories(directory.resolve("agents"));
        Files.writeString(directory.resolve("agents/a.yaml"), "model: scripted:a.script.yaml");
        Files.writeString(directory.resolve("agents/a.script.yaml"), "replies: [{ text: Hello. }]");
    }

    @Test
    void dev_inMemory_saysItIsReadyAndDrainsOnSigterm() throws Exception {
        try (ChildProcess command = command(Map.of(), "dev", "--in-memory", "--port", "0", "--json")) {
            JsonNode ready = ready(command);
            assertThat(ready.path("address").asText()).matches("127\\.0\\.0\\.1:[0-9]+");
            assertThat(command.firstLine(PATIENCE))
                    .isEqualTo("{\"ready\":true,\"address\":\""
                            + ready.path("address").asText()
                            + "\",\"ui\":null,\"taskQueue\":\"waymark\",\"agents\":[\"a\"],\"server\":\"in-memory\"}");
            assertThat(command.terminate(PATIENCE)).isZero();
            assertThat(command.lines()).hasSize(1);
        }
    }

    @Test
    void dev_withoutWorker_needsNoAgents() throws Exception {
        Files.move(directory.resolve("agents"), directory.resolve("elsewhere"));
        try (ChildProcess command = command(Map.of(), "dev", "--in-memory", "--port", "0", "--json", "--no-worker")) {
            assertThat(ready(command).path("agents")).isEmpty();
            assertThat(command.terminate(PATIENCE)).isZero();
        }
    }

    @Test
    void dev_portTaken_exitsTwo() throws Exception {
        try (InMemoryServer server = InMemoryServer.start(0);
                ChildProcess command =
                        command(Map.of(), "dev", "--in-memory", "--port", Integer.toString(server.port()))) {
            assertThat(command.end(PATIENCE).exitCode()).isEqualTo(2);
            assertThat(command.err())
                    .isEqualTo("waymark: port: " + server.port()
                            + " is in use. Stop what uses it, or choose others with --port and --ui-port\n");
        }
    }

    @Test
    void worker_started_saysItIsReadyAndDrainsOnSigterm() throws Exception {
        try (InMemoryServer server = InMemoryServer.start(0);
                ChildProcess command = command(
                        Map.of("TEMPORAL_ADDRESS", server.address(), "WAYMARK_TASK_QUEUE", "mine"),
                        "worker",
                        "--json")) {
            ready(command);
            assertThat(command.firstLine(PATIENCE))
                    .isEqualTo("{\"ready\":true,\"address\":\"" + server.address()
                            + "\",\"ui\":null,\"taskQueue\":\"mine\",\"agents\":[\"a\"],\"server\":\"in-memory\"}");
            assertThat(command.terminate(PATIENCE)).isZero();
        }
    }

    @Test
    void worker_sigtermWhileAToolRuns_exitsWhenTheToolHasEnded() throws Exception {
        Files.writeString(directory.resolve("agents/slow.yaml"), """
                model: scripted:slow.script.yaml
                tools: [{ name: work, command: [sh, -c, "touch ../begun; sleep 2; touch ../ended"] }]
                """);
        Files.writeString(
                directory.resolve("agents/slow.script.yaml"),
                "replies: [{ tool_calls: [{ id: tu_1, name: work }] }, { text: Done. }]");
        try (InMemoryServer server = InMemoryServer.start(0);
                AgentClient client = AgentClient.connect(server.address());
                ChildProcess command = command(Map.of("TEMPORAL_ADDRESS", server.address()), "worker", "--json")) {
            ready(command);
            client.start(Prompt.of("slow", "Work"));
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(directory.resolve("begun")));

            assertThat(command.terminate(PATIENCE)).isZero();
            assertThat(directory.resolve("ended")).exists();
        }
    }

    @Test
    void worker_keyMissing_startsAndSaysWhoNeedsIt() throws Exception {
        Files.writeString(directory.resolve("agents/b.yaml"), "model: anthropic:some-model");
        Files.writeString(directory.resolve("agents/c.yaml"), "model: openai:some-model");
        try (InMemoryServer server = InMemoryServer.start(0);
                ChildProcess command = command(
                        Map.of("TEMPORAL_ADDRESS", server.address(), "OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
                        "worker",
                        "--json")) {
            assertThat(ready(command).path("agents").toString()).isEqualTo("[\"a\",\"b\",\"c\"]");
            Awaitility.await()
                    .until(
                            command::err,
                            ("waymark: ANTHROPIC_API_KEY is not set: b. Set it and restart; until then their turns"
                                    + " fail\n")::equals);
            assertThat(command.terminate(PATIENCE)).isZero();
        }
    }

    @Test
    void worker_noServer_exitsFive() throws Exception {
        try (ChildProcess command = command(Map.of("TEMPORAL_ADDRESS", "127.0.0.1:1"), "worker", "--json")) {
            assertThat(command.end(PATIENCE).exitCode()).isEqualTo(5);
            assertThat(command.err())
                    .startsWith("waymark: no Temporal server answers: 127.0.0.1:1 ")
                    .hasLineCount(1);
            assertThat(PayloadJson.MAPPER
                            .readTree(command.out())
                            .at("/error/type")
                            .asText())
                    .isEqualTo("ServerUnreachable");
        }
    }

    @Test
    @Tag("server")
    void dev_temporal_keepsItsDatabaseAndLeavesNoProcess() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary");
        Map<String, String> environment = Map.of("TEMPORAL_CLI", binary.get().toString());
        try (ChildProcess command = command(environment, "dev", "--port", "0", "--ui-port", "0", "--json")) {
            JsonNode ready = ready(command);
            assertThat(ready.path("server").asText()).isEqualTo("temporal");
            assertThat(ready.path("ui").asText()).matches("http://127\\.0\\.0\\.1:[0-9]+");
            assertThat(directory.resolve(".waymark/temporal.db")).exists();
            List<ProcessHandle> children = command.handle().descendants().toList();
            assertThat(children).isNotEmpty();
            assertThat(command.terminate(PATIENCE)).isZero();
            assertThat(children).noneMatch(ProcessHandle::isAlive);
        }
    }

    /** A command in a separate JVM, started in the temporary directory. */
    private ChildProcess command(Map<String, String> environment, String... args) throws IOException {
        List<String> flags = new ArrayList<>(ChildProcess.SHORT_LIVED);
        if (Runtime.version().feature() >= 24) {
            // Options that ./waymark and the jar's manifest set to avoid warnings on stderr.
            flags.addAll(List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
        }
        return ChildProcess.java(flags, Main.class, args)
                .in(directory)
                .withoutEnvironment("(WAYMARK|TEMPORAL|ANTHROPIC|OPENAI)_.*")
                .environment(environment)
                .start();
    }

    private static JsonNode ready(ChildProcess command) throws IOException, InterruptedException {
        return PayloadJson.MAPPER.readTree(command.firstLine(PATIENCE));
    }
}
