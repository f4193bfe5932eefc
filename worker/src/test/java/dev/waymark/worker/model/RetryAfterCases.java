package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.fixtures.model.AnthropicServer;
import dev.waymark.fixtures.model.ModelServer;
import dev.waymark.fixtures.model.OpenAiServer;
import dev.waymark.testkit.model.ModelAnswer;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.model.anthropic.AnthropicProvider;
import dev.waymark.worker.model.openai.OpenAiProvider;
import dev.waymark.worker.provider.ModelProviders;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long a worker waits if a service requests a wait, measured at the service. */
@Timeout(180)
abstract class RetryAfterCases {
    /**
     * Retries may not come earlier, and at most a tenth later, which is two seconds here. A busy machine needs part of
     * that time to find the task that is due, deliver it to the worker and read the history: usually tens of
     * milliseconds. A tenth of a shorter wait would be too little.
     */
    private static final Duration WAIT = Duration.ofSeconds(20);

    abstract Connection connection();

    @Test
    void retryAfter_isHonoredWithinATenth() {
        try (ModelServer anthropic = new AnthropicServer();
                ModelServer openai = new OpenAiServer();
                AgentWorker worker = AgentWorker.builder(connection().client())
                        .taskQueue("patience-" + UUID.randomUUID())
                        .agents(AgentSpec.of("a", "anthropic:m-1"), AgentSpec.of("o", "openai:m-1"))
                        .providers(ModelProviders.of(Map.of(
                                AnthropicProvider.NAME,
                                AnthropicProvider.of(anthropic.environment()),
                                "openai",
                                OpenAiProvider.of(openai.environment()))))
                        .build()) {
            anthropic.answers(
                    ModelAnswer.error(429, "{}").with("Retry-After", Long.toString(WAIT.toSeconds())),
                    ModelAnswer.says("Hello."));
            openai.answers(
                    ModelAnswer.error(503, "{}").with("Retry-After-Ms", Long.toString(WAIT.toMillis())),
                    ModelAnswer.says("Hello."));
            worker.start();

            List<WorkflowStub> turns = Stream.of("a", "o")
                    .map(agent -> OneTurn.start(connection(), worker.taskQueue(), agent))
                    .toList();

            assertThat(turns)
                    .allMatch(turn -> turn.getResult(RunOutcome.class).status().equals("complete"));
            for (ModelServer server : List.of(anthropic, openai)) {
                List<ModelServer.Received> requests = server.received();
                assertThat(requests).hasSize(2);
                assertThat(requests.get(1).at().minus(requests.get(0).at()))
                        .isBetween(WAIT, WAIT.plus(WAIT.dividedBy(10)));
            }
        }
    }
}
