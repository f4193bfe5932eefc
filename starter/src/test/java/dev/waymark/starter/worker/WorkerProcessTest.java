package dev.waymark.starter.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.request.Prompt;
import dev.waymark.contract.PayloadJson;
import dev.waymark.starter.Main;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.server.TemporalBinary;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
        try (Command command = new Command(Map.of(), "dev", "--in-memory", "--port", "0", "--json")) {
            JsonNode ready = command.readyLine();
            assertThat(ready.path("address").asText()).matches("127\\.0\\.0\\.1:[0-9]+");
            assertThat(command.line)
                    .isEqualTo("{\"ready\":true,\"address\":\""
                            + ready.path("address").asText()
                            + "\",\"ui\":null,\"taskQueue\":\"waymark\",\"agents\":[\"a\"],\"server\":\"in-memory\"}");
            assertThat(command.terminate()).isZero();
            assertThat(command.restOfStdout()).isEmpty();
        }
    }

    @Test
    void dev_withoutWorker_needsNoAgents() throws Exception {
        Files.move(directory.resolve("agents"), directory.resolve("elsewhere"));
        try (Command command = new Command(Map.of(), "dev", "--in-memory", "--port", "0", "--json", "--no-worker")) {
            assertThat(command.readyLine().path("agents")).isEmpty();
            assertThat(command.terminate()).isZero();
        }
    }

    @Test
    void dev_portTaken_exitsTwo() throws Exception {
        try (InMemoryServer server = InMemoryServer.start(0);
                Command command =
                        new Command(Map.of(), "dev", "--in-memory", "--port", Integer.toString(server.port()))) {
            assertThat(command.end()).isEqualTo(2);
            assertThat(command.stderr())
                    .isEqualTo("waymark: port: " + server.port()
                            + " is in use. Stop what uses it, or choose others with --port and --ui-port\n");
        }
    }

    @Test
    void worker_serverThere_saysItIsReadyAndDrainsOnSigterm() throws Exception {
        try (InMemoryServer server = InMemoryServer.start(0);
                Command command = new Command(
                        Map.of("TEMPORAL_ADDRESS", server.address(), "WAYMARK_TASK_QUEUE", "mine"),
                        "worker",
                        "--json")) {
            command.readyLine();
            assertThat(command.line)
                    .isEqualTo("{\"ready\":true,\"address\":\"" + server.address()
                            + "\",\"ui\":null,\"taskQueue\":\"mine\",\"agents\":[\"a\"],\"server\":\"in-memory\"}");
            assertThat(command.terminate()).isZero();
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
                Command command = new Command(Map.of("TEMPORAL_ADDRESS", server.address()), "worker", "--json")) {
            command.readyLine();
            client.start(Prompt.of("slow", "Work"));
            Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(directory.resolve("begun")));

            assertThat(command.terminate()).isZero();
            assertThat(directory.resolve("ended")).exists();
        }
    }

    @Test
    void worker_keyMissing_startsAndSaysWhoNeedsIt() throws Exception {
        Files.writeString(directory.resolve("agents/b.yaml"), "model: anthropic:some-model");
        Files.writeString(directory.resolve("agents/c.yaml"), "model: openai:some-model");
        try (InMemoryServer server = InMemoryServer.start(0);
                Command command = new Command(
                        Map.of("TEMPORAL_ADDRESS", server.address(), "OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
                        "worker",
                        "--json")) {
            assertThat(command.readyLine().path("agents").toString()).isEqualTo("[\"a\",\"b\",\"c\"]");
            assertThat(command.stderr())
                    .isEqualTo("waymark: ANTHROPIC_API_KEY is not set: b. Set it and restart; until then their turns"
                            + " fail\n");
            assertThat(command.terminate()).isZero();
        }
    }

    @Test
    void worker_noServer_exitsFive() throws Exception {
        try (Command command = new Command(Map.of("TEMPORAL_ADDRESS", "127.0.0.1:1"), "worker", "--json")) {
            assertThat(command.end()).isEqualTo(5);
            assertThat(command.stderr())
                    .startsWith("waymark: no Temporal server answers: 127.0.0.1:1 ")
                    .hasLineCount(1);
            assertThat(PayloadJson.MAPPER
                            .readTree(command.restOfStdout())
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
        try (Command command = new Command(environment, "dev", "--port", "0", "--ui-port", "0", "--json")) {
            JsonNode ready = command.readyLine();
            assertThat(ready.path("server").asText()).isEqualTo("temporal");
            assertThat(ready.path("ui").asText()).matches("http://127\\.0\\.0\\.1:[0-9]+");
            assertThat(directory.resolve(".waymark/temporal.db")).exists();
            List<ProcessHandle> children = command.process.descendants().toList();
            assertThat(children).isNotEmpty();
            assertThat(command.terminate()).isZero();
            assertThat(children).noneMatch(ProcessHandle::isAlive);
        }
    }

    /** A command in a separate JVM, started in the temporary directory. */
    private final class Command implements AutoCloseable {
        private final Process process;
        private final BufferedReader stdout;
        private final Path stderr;
        private String line = "";

        Command(Map<String, String> environment, String... args) throws IOException {
            List<String> words = new ArrayList<>();
            words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            words.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
            if (Runtime.version().feature() >= 24) {
                // Options that ./waymark and the jar's manifest set to avoid warnings on stderr.
                words.addAll(List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
            }
            words.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
            words.addAll(List.of(args));
            stderr = directory.resolve("stderr.log");
            ProcessBuilder builder =
                    new ProcessBuilder(words).directory(directory.toFile()).redirectError(stderr.toFile());
            builder.environment().keySet().removeIf(name -> name.matches("(WAYMARK|TEMPORAL|ANTHROPIC|OPENAI)_.*"));
            builder.environment().putAll(environment);
            process = builder.start();
            stdout = process.inputReader(StandardCharsets.UTF_8);
        }

        JsonNode readyLine() throws IOException {
            line = Optional.ofNullable(stdout.readLine()).orElse("");
            assertThat(line).as("stderr: %s", stderr()).isNotEmpty();
            return PayloadJson.MAPPER.readTree(line);
        }

        int terminate() throws InterruptedException {
            // Process.destroy() would close streams that are not read yet.
            process.toHandle().destroy();
            return end();
        }

        int end() throws InterruptedException {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            return process.exitValue();
        }

        String restOfStdout() throws IOException {
            StringBuilder rest = new StringBuilder();
            for (String next = stdout.readLine(); next != null; next = stdout.readLine()) {
                rest.append(next).append('\n');
            }
            return rest.toString();
        }

        String stderr() throws IOException {
            return Files.readString(stderr);
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
