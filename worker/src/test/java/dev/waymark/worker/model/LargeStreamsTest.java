package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.value.Problem;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.testkit.crash.WorkerProcess;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.provider.ModelProviders;
import dev.waymark.worker.server.InMemoryServer;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker with a heap of 192 MiB, and a service that sends more than fits into that heap. */
@Tag("full")
@Timeout(300)
class LargeStreamsTest {
    private static final String TASK_QUEUE = "large-streams";

    private InMemoryServer temporal;
    private Connection connection;
    private ModelServer models;
    private WorkerProcess worker;

    /**
     * Runs the worker. The arguments are the address of the Temporal server, and the provider's environment variables.
     */
    static final class SmallWorker {
        public static void main(String[] args) throws IOException {
            Map<String, String> environment = new LinkedHashMap<>();
            for (int i = 1; i < args.length; i += 2) {
                environment.put(args[i], args[i + 1]);
            }
            AgentWorker.builder(Connection.to(args[0]).client())
                    .taskQueue(TASK_QUEUE)
                    .agents(AgentSpec.of("large", "anthropic:large"), AgentSpec.of("small", "anthropic:small"))
                    .providers(ModelProviders.of(Map.of(AnthropicProvider.NAME, AnthropicProvider.of(environment))))
                    .build()
                    .start();
            WorkerProcess.work();
        }
    }

    @BeforeEach
    void begin() throws Exception {
        temporal = InMemoryServer.start(0);
        connection = Connection.to(temporal.address());
        models = new AnthropicServer();
        List<String> arguments = new ArrayList<>(List.of(temporal.address()));
        models.environment().forEach((name, value) -> arguments.addAll(List.of(name, value)));
        worker = WorkerProcess.start(SmallWorker.class, arguments.toArray(String[]::new));
    }

    @AfterEach
    void end() {
        worker.close();
        models.close();
        connection.close();
        temporal.close();
    }

    /** Sets the answer of the model {@code large}. Every other model replies with a short text. */
    private void answerLarge(ModelAnswer answer) {
        models.answers(
                request -> request.body().path("model").asText().equals("large") ? answer : ModelAnswer.says("Hello."));
    }

    private List<WorkflowStub> start(String agent, int count) {
        List<WorkflowStub> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(OneTurn.start(connection, TASK_QUEUE, agent));
        }
        return threads;
    }

    private static List<RunOutcome> outcomes(List<WorkflowStub> threads) {
        return threads.stream()
                .map(thread -> thread.getResult(RunOutcome.class))
                .toList();
    }

    @Test
    void endlessStreams_failTheirOwnTurnsOnly() throws Exception {
        answerLarge(ModelAnswer.says("words ".repeat(10_000)).endless());

        List<WorkflowStub> endless = start("large", 20);
        List<WorkflowStub> others = start("small", 20);

        assertThat(outcomes(others)).extracting(RunOutcome::status).containsOnly("complete");
        assertThat(outcomes(endless))
                .extracting(outcome -> outcome.error().map(Problem::type))
                .containsOnly(Optional.of("ReplyTooLarge"));
        assertThat(worker.diesWithin(Duration.ZERO)).isFalse();
    }

    /** Each reply fits, but all together would take a quarter of a gigabyte. */
    @Test
    void largeReplies_atTheSameTime_takeTurnsWithoutBlockingOthers() throws Exception {
        answerLarge(ModelAnswer.says("w".repeat(900_000), ".").silentAfter(1));

        List<WorkflowStub> large = start("large", 50);
        await().atMost(Duration.ofSeconds(60)).until(() -> models.received().size() >= 50);
        assertThat(outcomes(start("small", 5))).extracting(RunOutcome::status).containsOnly("complete");
        models.goOn();

        assertThat(outcomes(large)).extracting(RunOutcome::status).containsOnly("complete");
        assertThat(worker.diesWithin(Duration.ZERO)).isFalse();
    }
}
