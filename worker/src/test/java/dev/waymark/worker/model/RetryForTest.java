package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.connect.Connection;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Problem;
import dev.waymark.model.ModelFailure;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.workflow.TestServers;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long an agent's model calls are retried while the service limits their rate. */
@Tag("full")
@Timeout(120)
class RetryForTest {
    private static final int MORE_THAN_USUAL = 14;
    private static final Duration SHORT = Duration.ofMillis(200);

    private final Connection connection = TestServers.inMemory();
    private final AtomicInteger attempts = new AtomicInteger();

    private RunOutcome outcome(AgentSpec.Builder agent, IntFunction<ModelFailure> failures, int succeedsAt) {
        String queue = "retry-for-" + UUID.randomUUID();
        try (AgentWorker worker = AgentWorker.builder(connection.client())
                .taskQueue(queue)
                .agents(agent.build())
                .provider("limited", request -> {
                    int attempt = attempts.incrementAndGet();
                    if (attempt < succeedsAt) {
                        throw failures.apply(attempt);
                    }
                    return Reply.of(new Part.Text("At last."));
                })
                .provider("other", request -> Reply.of(new Part.Text("Hello.")))
                .build()) {
            worker.start();
            return OneTurn.start(connection, queue, "patient").getResult(RunOutcome.class);
        }
    }

    private static AgentSpec.Builder patient(Duration most) {
        return new AgentSpec.Builder("patient", "limited:m-1").retryFor(most);
    }

    private static ModelFailure limited(Duration retryAfter) {
        return ModelFailure.passing("RateLimited", "slow down", retryAfter);
    }

    @Test
    void longLimit_allowsMoreThanTenRetries() {
        RunOutcome outcome = outcome(patient(Duration.ofMinutes(5)), attempt -> limited(SHORT), MORE_THAN_USUAL);

        assertThat(outcome.text()).isEqualTo("At last.");
        assertThat(attempts).hasValue(MORE_THAN_USUAL);
    }

    @Test
    void shortLimit_endsWithTheTypeOfTheFailure() {
        RunOutcome outcome = outcome(patient(Duration.ofSeconds(1)), attempt -> limited(SHORT), Integer.MAX_VALUE);

        assertThat(outcome.error()).contains(new Problem("RateLimited", "slow down (not retried: retry_for is 1s)"));
        assertThat(attempts.get()).isBetween(2, 6);
    }

    @Test
    void requestedWaitBeyondTheLimit_isNotWaitedFor() {
        RunOutcome outcome =
                outcome(patient(Duration.ofSeconds(30)), attempt -> limited(Duration.ofMinutes(2)), Integer.MAX_VALUE);

        assertThat(outcome.error().map(Problem::type)).contains("RateLimited");
        assertThat(attempts).hasValue(1);
    }

    @Test
    void limitOfZero_meansOneAttempt() {
        RunOutcome outcome = outcome(
                patient(Duration.ZERO), attempt -> ModelFailure.passing("RateLimited", "slow down"), Integer.MAX_VALUE);

        assertThat(outcome.error().map(Problem::type)).contains("RateLimited");
        assertThat(attempts).hasValue(1);
    }

    @Test
    void fallbackThatHasNotFailed_isCalledAfterTheLimit() {
        RunOutcome outcome = outcome(
                patient(Duration.ZERO).fallback(FallbackModel.of("other:m-2")),
                attempt -> limited(Duration.ofMinutes(2)),
                Integer.MAX_VALUE);

        assertThat(outcome.text()).isEqualTo("Hello.");
        assertThat(attempts).hasValue(1);
    }
}
