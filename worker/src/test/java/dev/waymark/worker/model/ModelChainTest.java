package dev.waymark.worker.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.FallbackModel;
import dev.waymark.model.ModelFailure;
import dev.waymark.worker.model.ModelChain.Failed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Checks which model each attempt calls, and when. */
class ModelChainTest {
    private static final ModelFailure BUSY = ModelFailure.passing("Overloaded", "Busy.");

    private long now;
    private final ModelOutages outages = new ModelOutages(() -> now, UnaryOperator.identity());
    private final AgentSpec agent = AgentSpec.of("a", "x:1")
            .with()
            .fallback(List.of(FallbackModel.of("y:2"), FallbackModel.of("z:3")))
            .build();
    private final ModelChain chain = ModelChain.of(agent, outages);

    /** The models that are called while all of them fail like this, each with the delay before the next attempt. */
    private List<String> asked(Failed failed, int times, ModelFailure failure) {
        List<String> asked = new ArrayList<>();
        for (int attempt = 0; attempt < times; attempt++) {
            ModelChain.Link next = chain.next(failed);
            failed = chain.after(next, failure, failed);
            String delay = chain.delay(next, failure.retryAfter(), failed)
                    .map(wait -> " " + wait.toMillis())
                    .orElse("");
            asked.add(next.model() + delay);
        }
        return asked;
    }

    @Test
    void failingModels_areCalledTwiceInOrderAndThenInTurns() {
        assertThat(asked(Failed.NOTHING, 9, BUSY))
                .containsExactly("x:1", "x:1 1", "y:2", "y:2 1", "z:3", "z:3", "x:1", "y:2", "z:3");
    }

    @Test
    void requestedWait_delaysTheRetryIfShortOrSkipsTheModelIfLong() {
        assertThat(asked(Failed.NOTHING, 3, ModelFailure.passing("RateLimited", "", Duration.ofSeconds(5))))
                .containsExactly("x:1 5000", "x:1 1", "y:2 5000");
        now += Duration.ofHours(1).toNanos();
        outages.ended("x:1");
        assertThat(asked(Failed.NOTHING, 3, ModelFailure.passing("RateLimited", "", Duration.ofSeconds(90))))
                .containsExactly("x:1 1", "y:2 1", "z:3 90000");
    }

    @Test
    void silentModel_isReplacedAtOnceAndCountsAsOut() {
        assertThat(asked(Failed.NOTHING, 4, ModelFailure.passing("ModelSilent", "")))
                .containsExactly("x:1 1", "y:2 1", "z:3", "x:1");
        assertThat(outages.isOut("x:1")).isTrue();
    }

    @Test
    void outage_olderThanAMinute_resumesAfterOneFailureUntilTheModelAnswers() {
        asked(Failed.NOTHING, 2, BUSY);
        assertThat(asked(Failed.NOTHING, 1, BUSY)).containsExactly("y:2");
        now += Duration.ofSeconds(61).toNanos();
        assertThat(asked(Failed.NOTHING, 2, BUSY)).containsExactly("x:1 1", "y:2");
        now += Duration.ofSeconds(61).toNanos();
        chain.answered(chain.next(Failed.NOTHING));
        assertThat(asked(Failed.NOTHING, 2, BUSY)).containsExactly("x:1", "x:1 1");
    }

    @Test
    void outage_withARequestedWait_lastsAsLong() {
        ModelFailure away = ModelFailure.passing("Overloaded", "", Duration.ofMinutes(10));
        asked(Failed.NOTHING, 1, away);
        now += Duration.ofMinutes(9).toNanos();
        assertThat(chain.next(Failed.NOTHING).model()).isEqualTo("y:2");
        now += Duration.ofMinutes(2).toNanos();
        assertThat(chain.next(Failed.NOTHING).model()).isEqualTo("x:1");
    }

    @Test
    void failureOfOneRequest_callsTheNextModelWithoutAnOutage() {
        ModelFailure garbled = ModelFailure.passing("MalformedReply", "");

        assertThat(asked(Failed.NOTHING, 3, garbled)).containsExactly("x:1", "x:1 1", "y:2");
        assertThat(chain.next(Failed.NOTHING).model()).isEqualTo("x:1");
    }

    @Test
    void fallback_unableToAnswer_isNotCalledAgain() {
        Failed failed = chain.after(chain.next(Failed.NOTHING), BUSY, Failed.NOTHING);
        failed = chain.after(chain.next(failed), BUSY, failed);
        ModelFailure refusal = ModelFailure.permanent("Unauthorized", "");
        ModelChain.Link second = chain.next(failed);

        assertThat(chain.continuesWithout(second, refusal)).isTrue();
        assertThat(chain.continuesWithout(ModelChain.links(agent).get(0), refusal))
                .isFalse();
        assertThat(chain.continuesWithout(second, BUSY)).isFalse();
        failed = ModelChain.without(second, failed);
        assertThat(asked(failed, 4, BUSY)).containsExactly("z:3", "z:3", "x:1", "z:3");
    }

    @Test
    void memoryShortageOfTheWorker_isNotAnOutage() {
        assertThat(chain.passesOn(ModelFailure.passing("WorkerBusy", ""))).isFalse();
        assertThat(chain.passesOn(BUSY)).isTrue();
        assertThat(ModelChain.of(AgentSpec.of("a", "x:1"), outages).passesOn(BUSY))
                .isFalse();
        assertThat(chain.delay(ModelChain.links(agent).get(0), Optional.empty(), Failed.NOTHING))
                .isEmpty();
    }
}
