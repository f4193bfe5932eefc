package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.client.AgentClient;
import dev.waymark.client.AgentResult;
import dev.waymark.client.request.Prompt;
import dev.waymark.conversation.message.Summary;
import dev.waymark.e2e.product.CliWorkerProcess;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.ResponsesServer;
import dev.waymark.fixtures.process.KillableServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.testkit.model.ModelAnswer.Piece;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A thread with summaries, and with a model that binds its thinking, while worker and server are killed. No request may
 * be refused, no thinking lost, and nothing written twice.
 */
@Tag("server")
@Tag("full")
@Timeout(300)
class KilledPromptsServerTest {
    private static final int CALLS = 24;
    private static final Pattern RESULT = Pattern.compile("\"(?:tool_use_id|call_id)\":\"tu_(\\d+)\"");

    @TempDir
    private Path directory;

    private final AtomicInteger summaries = new AtomicInteger();

    private enum Service {
        REFUSING("anthropic:claude-opus-5-5", AnthropicServer::new),
        DROPPING("anthropic:claude-opus-5-5", () -> new AnthropicServer().droppingByDefault()),
        OPENAI("openai-responses:gpt-6.1-sol", ResponsesServer::new);

        private final String model;
        private final Supplier<ModelServer> server;

        Service(String model, Supplier<ModelServer> server) {
            this.model = model;
            this.server = server;
        }
    }

    /** The next call, by the newest result: a repeated request gets the same call again. */
    private ModelAnswer answer(JsonNode body) {
        if (body.at("/system/0/text").asText().equals(Summary.INSTRUCTIONS)
                || body.path("instructions").asText().equals(Summary.INSTRUCTIONS)) {
            summaries.incrementAndGet();
            return ModelAnswer.says("They write.").using(50, 10);
        }
        int done = RESULT.matcher(body.toString())
                .results()
                .mapToInt(result -> Integer.parseInt(result.group(1)))
                .max()
                .orElse(0);
        ModelAnswer.Speech thinking = ModelAnswer.says().plus(new Piece.Thought("", "sig" + done));
        return done < CALLS
                ? thinking.calls("tu_" + (done + 1), "write", "{\"n\": 1.0}").using(50, 10)
                : thinking.plus(new Piece.Words("Written.")).using(50, 10);
    }

    private Path agents(String model) throws Exception {
        Path agents = Files.createDirectories(directory.resolve("agents"));
        Files.writeString(agents.resolve("writer.yaml"), """
                model: MODEL
                instructions: You write.
                max_iterations: 100
                summarize: { when_tokens: 60, keep_messages: 4 }
                tools:
                  - name: write
                    input: { type: object, properties: { n: { type: number } } }
                    command: [/bin/sh, -c, 'sleep 0.2; echo "$WAYMARK_CALL_ID" >> ledger; printf ok']
                """.replace("MODEL", model));
        return agents;
    }

    private List<String> ledger(Path agents) throws Exception {
        Path ledger = agents.resolve("ledger");
        return Files.exists(ledger) ? Files.readAllLines(ledger) : List.of();
    }

    private void awaitLines(Path agents, int count) throws Exception {
        while (ledger(agents).size() < count) {
            Thread.sleep(20);
        }
    }

    @ParameterizedTest
    @EnumSource
    void thread_workerAndServerKilled_losesNoThinking(Service service) throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        Path agents = agents(service.model);
        Path log = directory.resolve("worker.log");
        try (ModelServer model = service.server.get();
                KillableServer server = KillableServer.start(
                        binary.get(),
                        port -> DevServer.temporal(
                                binary.get(), Optional.of(directory.resolve("temporal.db")), port, 0));
                AgentClient client = AgentClient.connect(server.address()).withTimeout(Duration.ofMinutes(2))) {
            model.answers(request -> answer(request.body()));
            CliWorkerProcess worker = CliWorkerProcess.start(server.address(), agents, model.environment(), log);
            try {
                client.start(Prompt.of("writer", "Write.").withThread("letters"));
                for (int lines : List.of(4, 9, 15)) {
                    awaitLines(agents, lines);
                    worker.kill();
                    if (lines == 9) {
                        server.kill();
                        server.restart();
                    }
                    worker = CliWorkerProcess.start(server.address(), agents, model.environment(), log);
                }
                AgentResult result = client.run(Prompt.of("writer", "And now?").withThread("letters"))
                        .await();

                assertThat(AgentResult.assertComplete(result).text()).isEqualTo("Written.");
                assertThat(client.inspector().verify("letters").agrees()).isTrue();
                assertThat(summaries.get()).isGreaterThan(2);
                assertThat(model.complaints()).isEmpty();
                if (model instanceof AnthropicServer anthropic) {
                    assertThat(anthropic.dropped()).isEmpty();
                }
                assertThat(ledger(agents)).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(CALLS - 3);
            } finally {
                worker.kill();
            }
        }
    }
}
