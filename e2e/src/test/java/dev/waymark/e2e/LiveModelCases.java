package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Watching;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.testkit.model.ModelAnswer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models over real HTTP, with server, worker and commands in separate processes. */
@TestInstance(Lifecycle.PER_CLASS)
@Timeout(400)
abstract class LiveModelCases {
    static final Duration PATIENCE = Duration.ofSeconds(120);

    final ModelServer anthropic = new AnthropicServer();
    final ModelServer openai = new OpenAiServer();
    private final Map<String, String> environment = new LinkedHashMap<>();
    Path directory;
    Dev server;
    CliWorkerProcess worker;
    Command waymark;

    abstract Dev serverWithoutWorker(Path folder);

    @BeforeAll
    void start(@TempDir Path folder) throws IOException {
        directory = folder;
        environment.putAll(anthropic.environment());
        environment.putAll(openai.environment());
        agent("teller", "anthropic:some-model");
        agent("other", "openai:some-model");
        Files.writeString(directory.resolve("looper.yaml"), """
                model: anthropic:claude-haiku-4-5
                budget: { usd: 0.03 }
                tools: [{ name: look, command: [cat], safe_to_retry: true }]
                """);
        server = serverWithoutWorker(folder);
        waymark = Command.warmAt(server.address());
        worker = newWorker("first.log");
    }

    void agent(String name, String model) throws IOException {
        Files.writeString(directory.resolve(name + ".yaml"), "model: " + model + "\ntools: [{ use: ask_user }]\n");
    }

    CliWorkerProcess newWorker(String log) {
        return CliWorkerProcess.start(server.address(), directory, environment, directory.resolve(log));
    }

    @AfterAll
    void stop() {
        if (worker != null) {
            worker.close();
        }
        if (server != null) {
            server.close();
        }
        anthropic.close();
        openai.close();
    }

    Watching begin(String agent, String thread) {
        assertThat(waymark.run("run", "--agent", agent, "--thread", thread, "--volatile", "--no-wait", "Tell")
                        .exitCode())
                .isZero();
        return Watching.start(server.address(), thread);
    }

    @Test
    void words_reachWatchBeforeTheReply() {
        openai.answers(ModelAnswer.says("It ", "rains ", "in ", "Spain.").silentAfter(2));

        try (Watching watching = begin("other", "rain")) {
            await().atMost(PATIENCE)
                    .until(() -> said(watching.lines("text-delta"), 1).equals("It rains "));
            openai.goOn();
            await().atMost(PATIENCE)
                    .until(() -> !watching.lines("model-replied").isEmpty());

            List<JsonNode> lines = watching.lines();
            List<String> types =
                    lines.stream().map(line -> line.path("type").asText()).toList();
            List<JsonNode> deltas = watching.lines("text-delta");
            assertThat(types.subList(types.indexOf("text-delta"), types.indexOf("model-replied")))
                    .containsOnly("text-delta");
            assertThat("It rains in Spain.").startsWith(said(deltas, 1));
            // Scheduled, started, completed: partial text adds no event to history.
            long called = watching.lines("model-called").get(0).path("eventId").asLong();
            assertThat(watching.lines("model-replied").get(0).path("eventId").asLong())
                    .isEqualTo(called + 2);
        }
    }

    static String said(List<JsonNode> deltas, int attempt) {
        return deltas.stream()
                .filter(line -> line.path("attempt").asInt() == attempt)
                .map(line -> line.path("text").asText())
                .collect(Collectors.joining());
    }
}
