package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.ReadyProcess;
import dev.waymark.e2e.product.ScriptFile;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

    private ReadyProcess dev(String... more) throws IOException {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .assistant()
                .directory();
        List<String> arguments = new ArrayList<>(List.of("--agents", agents.toString()));
        arguments.addAll(List.of(more));
        return devHere(arguments);
    }

    private ReadyProcess devHere(List<String> more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("dev", "--in-memory", "--volatile", "--json", "--port", "0"));
        arguments.addAll(more);
        return ReadyProcess.start(
                ScriptFile.command(arguments.toArray(String[]::new)).in(directory));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void console_servesLoopbackOnlyAndEndsWithKilledDev() throws Exception {
        URI console;
        try (ReadyProcess dev = dev("--console-port", "0")) {
            console = URI.create(dev.line().path("console").asText());
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
        }
        await().atMost(Duration.ofMinutes(1)).until(() -> isClosed(console));
    }

    @Test
    void console_withoutWorker_listsAgentsOfTheNamedDirectory() throws Exception {
        try (ReadyProcess dev = dev("--no-worker", "--console-port", "0")) {
            URI console = URI.create(dev.line().path("console").asText());

            assertThat(send(HttpRequest.newBuilder(console.resolve("/v1/agents")))
                            .body())
                    .contains("assistant");
        }
    }

    @Test
    void console_withoutWorkerAndDirectory_listsReportedAgents() throws Exception {
        Path agents = new Agents(Files.createDirectory(directory.resolve("elsewhere")))
                .greeter()
                .directory();
        new Agents(Files.createDirectory(directory.resolve("agents"))).assistant();
        try (ReadyProcess dev = devHere(List.of("--no-worker", "--console-port", "0"))) {
            URI console = URI.create(dev.line().path("console").asText());
            String address = dev.line().path("address").asText();
            try (CliWorkerProcess worker =
                    CliWorkerProcess.start(address, agents, Map.of(), directory.resolve("worker.log"))) {
                await().atMost(Duration.ofSeconds(60))
                        .untilAsserted(() -> assertThat(send(HttpRequest.newBuilder(console.resolve("/v1/agents")))
                                        .body())
                                .contains("greeter")
                                .doesNotContain("assistant"));
            }
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
    void dev_noConsole_startsNone() throws Exception {
        try (ReadyProcess dev = dev("--no-console")) {
            assertThat(dev.line().has("console")).isFalse();
            dev.process().terminate(Duration.ofMinutes(1));
        }
    }
}
