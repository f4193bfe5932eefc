package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Watching;
import dev.waymark.testkit.model.AnthropicServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelServer;
import dev.waymark.testkit.model.OpenAiServer;
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
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final ModelServer anthropic = new AnthropicServer();
    private final ModelServer openai = new OpenAiServer();
    private final Map<String, String> environment = new LinkedHashMap<>();
    private Path directory;
    private Dev server;
    private CliWorkerProcess worker;
    private Command waymark;

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

    private void agent(String name, String model) throws IOException {
        Files.writeString(directory.resolve(name + ".yaml"), "model: " + model + "\ntools: [{ use: ask_user }]\n");
    }

    private CliWorkerProcess newWorker(String log) {
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

    private Watching begin(String agent, String thread) {
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

    @Test
    void worker_killedInMidReply_theReplyIsStoredOnce() {
        int before = anthropic.received().size();
        anthropic.answers(
                ModelAnswer.says("Once ", "upon ").silentAfter(2), ModelAnswer.says("Once ", "upon ", "a ", "time."));

        try (Watching watching = begin("teller", "tale")) {
            await().atMost(PATIENCE)
                    .until(() -> said(watching.lines("text-delta"), 1).equals("Once upon "));
            worker.kill();
            worker = newWorker("second.log");
            await().atMost(PATIENCE)
                    .until(() -> !watching.lines("model-replied").isEmpty());

            assertThat(watching.lines("model-replied")).hasSize(1);
            assertThat(said(watching.lines("text-delta"), 1)).isEqualTo("Once upon ");
            assertThat("Once upon a time.").startsWith(said(watching.lines("text-delta"), 2));
        }
        assertThat(anthropic.received()).hasSize(before + 2);
        assertThat(waymark.run("result", "tale").out()).isEqualTo("Once upon a time.\n");
        JsonNode messages = waymark.run("show", "tale", "--json").json().path("messages");
        assertThat(messages).hasSize(2);
        assertThat(waymark.run("verify", "tale").exitCode()).isZero();
    }

    /** A call costs 0.006 USD according to the price table, and the killed attempt had reported 0.001005 USD. */
    @Test
    void modelThatLoops_stopsAtItsBudget_acrossACrashAndAResume() throws IOException {
        int before = anthropic.received().size();
        ModelAnswer.Speech looking =
                ModelAnswer.says("Let me see.").calls("tu_1", "look", "{}").using(1_000, 1_000);
        anthropic.answers(looking, looking.silentAfter(1), looking);

        assertThat(waymark.run(
                                "run",
                                "--agent",
                                "looper",
                                "--thread",
                                "loop",
                                "--max-iterations",
                                "2",
                                "--volatile",
                                "--no-wait",
                                "Look")
                        .exitCode())
                .isZero();
        try (Watching watching = Watching.start(server.address(), "loop")) {
            await().atMost(PATIENCE)
                    .until(() -> anthropic.received().size() == before + 2
                            && !watching.lines("model-replied").isEmpty()
                            && after(watching, "model-replied", "text-delta"));
            worker.kill();
            worker = newWorker("third.log");
            JsonNode first = waymark.run("result", "loop", "--json").json();

            assertThat(first.path("status").asText()).isEqualTo("max-iterations");
            assertThat(first.path("costUsd").decimalValue()).isEqualByComparingTo("0.013005");
        }
        Path checkpoint = Files.writeString(
                directory.resolve("loop.json"),
                waymark.run("checkpoint", "loop", "--format", "session").out());
        JsonNode second = waymark.run(
                        "resume",
                        checkpoint.toString(),
                        "--agent",
                        "looper",
                        "--thread",
                        "loop-again",
                        "--volatile",
                        "--answer",
                        "Look again",
                        "--json")
                .json();

        assertThat(second.path("status").asText()).isEqualTo("budget");
        assertThat(second.path("costUsd").decimalValue()).isEqualByComparingTo("0.031005");
        assertThat(second.at("/error/message").asText()).contains("0.03 USD is spent: 0.031005 USD");
        assertThat(anthropic.received()).hasSize(before + 6);
        assertThat(anthropic.complaints()).isEmpty();
    }

    /** Returns whether the watch has printed an event of this type after the first event of type {@code that}. */
    private static boolean after(Watching watching, String that, String type) {
        List<String> types = watching.lines().stream()
                .map(line -> line.path("type").asText())
                .toList();
        return types.lastIndexOf(type) > types.indexOf(that);
    }

    @Test
    void key_echoedByTheService_isInNoOutput() throws IOException {
        openai.answers(ModelAnswer.error(
                401, "{\"error\":{\"code\":\"invalid_api_key\",\"message\":\"wrong: " + ModelServer.KEY + "\"}}"));

        Command.Done done = waymark.run("run", "--agent", "other", "Hi", "--json");

        assertThat(done.exitCode()).isEqualTo(1);
        assertThat(done.json().at("/error/type").asText()).isEqualTo("Unauthorized");
        assertThat(done.out() + done.err() + Files.readString(worker.log()))
                .contains("wrong: [key]")
                .doesNotContain(ModelServer.KEY);
    }

    private static String said(List<JsonNode> deltas, int attempt) {
        return deltas.stream()
                .filter(line -> line.path("attempt").asInt() == attempt)
                .map(line -> line.path("text").asText())
                .collect(Collectors.joining());
    }
}
