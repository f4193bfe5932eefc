package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.connect.Connection;
import dev.waymark.contract.work.RunOutcome;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Reply;
import dev.waymark.model.ModelProvider;
import dev.waymark.model.ModelRequest;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.workflow.TestServers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Turns whose provider returns null, or throws anything other than a {@link ModelFailure}. */
@Timeout(180)
class ProviderBugTest {
    private static final String RULE =
            ". A provider returns a reply, or throws a ModelFailure, which says whether a retry may help";

    private final Connection connection = TestServers.inMemory();
    private final AtomicInteger attempts = new AtomicInteger();

    enum Bug {
        NULL("returned null") {
            @Override
            Reply reply() {
                return null;
            }
        },
        UNCHECKED("threw java.lang.IllegalStateException: no route") {
            @Override
            Reply reply() {
                throw new IllegalStateException("no route");
            }
        },
        LINKAGE("threw java.lang.NoClassDefFoundError: com/acme/Http") {
            @Override
            Reply reply() {
                throw new NoClassDefFoundError("com/acme/Http");
            }
        },
        UNDECLARED("threw java.io.IOException: reset") {
            @Override
            Reply reply() {
                throw undeclared(new IOException("reset"));
            }
        };

        private final String words;

        Bug(String words) {
            this.words = words;
        }

        abstract Reply reply();

        /** Throws a checked exception, as Kotlin does. */
        @SuppressWarnings("unchecked")
        private static <E extends Exception> RuntimeException undeclared(Exception e) throws E {
            throw (E) e;
        }
    }

    @ParameterizedTest
    @EnumSource
    void bug_failsTheTurnAtTheFirstAttempt(Bug bug) {
        ModelProvider provider = request -> {
            attempts.incrementAndGet();
            return bug.reply();
        };

        RunOutcome outcome = outcome(provider);

        assertThat(attempts).hasValue(1);
        assertThat(outcome.error()).hasValueSatisfying(problem -> {
            assertThat(problem.type()).isEqualTo("ProviderBug");
            assertThat(problem.message())
                    .isEqualTo("the model provider " + provider.getClass().getName() + " " + bug.words + RULE);
        });
    }

    /** Otherwise, a worker that closes would fail the turn, instead of leaving it to the next worker. */
    @Test
    void wrappedInterrupt_countsAsAnInterrupt() {
        ModelProvider wrapping = request -> {
            throw new IllegalStateException(new InterruptedException());
        };

        assertThatThrownBy(() -> SilenceWatch.ask(
                        wrapping,
                        new ModelRequest("m-1", Optional.empty(), List.of(Message.user("Hi")), List.of(), 10),
                        words -> {},
                        Duration.ofMinutes(1),
                        () -> false))
                .isInstanceOf(InterruptedException.class);
    }

    private RunOutcome outcome(ModelProvider provider) {
        String queue = "provider-bug-" + UUID.randomUUID();
        try (AgentWorker worker = AgentWorker.builder(connection.client())
                .taskQueue(queue)
                .agents(new AgentSpec.Builder("broken", "acme:m-1")
                        .retryFor(Duration.ofSeconds(5))
                        .build())
                .provider("acme", provider)
                .build()) {
            worker.start();
            return OneTurn.start(connection, queue, "broken").getResult(RunOutcome.class);
        }
    }
}
