package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.ScriptFile;
import dev.waymark.e2e.product.CliWorkerProcess;
import java.util.Map;
import java.util.ArrayList;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The console of {@code waymark dev} is reachable from this machine only, and ends with the command. */
@Timeout(300)
@Tag("full")
class DevConsoleTest {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @TempDir
    private Path directory;

    private Process dev(String... more) throws IOException {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .directory();
        List<String> arguments = new ArrayList<>(List.of("--agents", agents.toString()));
        arguments.addAll(List.of(more));
        return devIn(arguments);
    }

    private Process devIn(List<String> more) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(ScriptFile.call("dev", "--in-memory", "--volatile", "--json", "--port", "0"));
        builder.command().addAll(more);
        return builder.directory(directory.toFile())
                .redirectError(directory.resolve("dev.log").toFile())
                .start();
    }

    private static JsonNode ready(Process dev) throws IOException {
        return new JsonMapper().readTree(dev.inputReader().readLine());
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void console_isServedToThisMachineOnly_startsThreads_andEndsWithAKilledDev() throws Exception {
        Process dev = dev("--console-port", "0");
        URI console;
        try {
            console = URI.create(ready(dev).path("console").asText());
            assertThat(send(HttpRequest.newBuilder(console.resolve("/"))).body())
                    .contains("/console/app.js");
            assertThat(send(HttpRequest.newBuilder(console.resolve("/v1/agents")))
                            .body())
                    .contains("assistant");
            HttpRequest.Builder start = HttpRequest.newBuilder(console.resolve("/v1/threads"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"agent\":\"assistant\",\"message\":\"Hi\"}"));
            assertThat(send(start.copy().header("Origin", "https://evil.example"))
                            .statusCode())
                    .isEqualTo(403);
            assertThat(send(start).statusCode()).isEqualTo(201);
        } finally {
            dev.destroyForcibly().waitFor();
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> isClosed(console));
    }

    @Test
    void console_withoutAWorker_listsTheAgentsOfTheNamedDirectory() throws Exception {
        Process dev = dev("--no-worker", "--console-port", "0");
        try {
            URI console = URI.create(ready(dev).path("console").asText());

            assertThat(send(HttpRequest.newBuilder(console.resolve("/v1/agents")))
                            .body())
                    .contains("assistant");
        } finally {
            dev.destroyForcibly().waitFor();
        }
    }

    @Test
    void console_withoutAWorkerAndADirectory_listsTheAgentsThatWorkersReport() throws Exception {
        Path agents = new Agents(Files.createDirectory(directory.resolve("elsewhere")))
                .greeter()
                .directory();
        new Agents(Files.createDirectory(directory.resolve("agents"))).assistant();
        Process dev = devIn(List.of("--no-worker", "--console-port", "0"));
        try {
            JsonNode ready = ready(dev);
            URI console = URI.create(ready.path("console").asText());
            try (CliWorkerProcess worker = CliWorkerProcess.start(
                    ready.path("address").asText(), agents, Map.of(), directory.resolve("worker.log"))) {
                await().atMost(Duration.ofSeconds(60))
                        .untilAsserted(() -> assertThat(
                                        send(HttpRequest.newBuilder(console.resolve("/v1/agents")))
                                                .body())
                                .contains("greeter")
                                .doesNotContain("assistant"));
            }
        } finally {
            dev.destroyForcibly().waitFor();
        }
    }

    private static boolean isClosed(URI console) {
        try (Socket socket = new Socket(console.getHost(), console.getPort())) {
            return !socket.isConnected();
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void withoutConsole_devHasNone() throws Exception {
        Process dev = dev("--no-console");
        try {
            assertThat(ready(dev).has("console")).isFalse();
        } finally {
            dev.destroy();
            assertThat(dev.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }
}
