package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.testkit.GeneratedThread;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Chains that are cut after any of their records. Calls that ran according to the remaining ones do not run again. */
@Tag("full")
class PhasesPrefixTest {
    private static final Instant LATER = Instant.parse("2026-06-01T09:00:00Z");
    private static final Resumption ONWARD =
            new Resumption("r", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty());
    private static final int THREADS = 400;

    /**
     * The conversation that continues from these records, once its agent is resolved; empty if the records are refused.
     */
    private static Optional<Conversation> resumed(List<Json> records) {
        try {
            Conversation restored = CheckpointReader.read(
                            Json.of(records).canonical().getBytes(StandardCharsets.UTF_8), LATER)
                    .state();
            return Optional.of(Rules.apply(
                    Rules.apply(Rules.resume(restored, ONWARD, LATER), new ThreadFact.AgentRequested(), LATER),
                    new ThreadFact.AgentResolved(GeneratedThread.policy()),
                    LATER));
        } catch (CheckpointCorruption refused) {
            return Optional.empty();
        }
    }

    private static int commonLength(List<Json> one, List<Json> other) {
        int length = 0;
        while (length < Math.min(one.size(), other.size()) && one.get(length).equals(other.get(length))) {
            length++;
        }
        return length;
    }

    /**
     * Returns the calls that must not run again: those that may have taken effect and, if the last record says that the
     * batch is over, also those without side effects.
     */
    private static Set<String> begun(Conversation state, List<Json> records) {
        boolean over = String.valueOf(records.get(records.size() - 1).field("phase"))
                .matches("post_tool_batch|post_subagent_batch");
        return state.batchCalls().stream()
                .filter(call -> call.dispatches() > 0 && call.status() != Call.Status.DISPATCHED)
                .filter(call -> over || !call.tool().equals("add"))
                .map(Call::id)
                .collect(Collectors.toSet());
    }

    private static Set<String> handedOut(Conversation resumed) {
        return Rules.nextSteps(resumed).stream()
                .filter(Step.RunTool.class::isInstance)
                .map(step -> ((Step.RunTool) step).call().id())
                .collect(Collectors.toSet());
    }

    @Test
    void everyPrefix_runsNothingThatRanBeforeItsLastRecord() {
        int batches = 0;
        for (long seed = 0; seed < THREADS; seed++) {
            Timeline whole = GeneratedThread.of(seed);
            List<Json> chain = PhasesCheckpoint.chain(whole);
            int known = 0;
            for (Moment moment : whole.moments()) {
                int length = commonLength(chain, PhasesCheckpoint.chain(whole.upTo(moment)));
                for (int cut = known + 1; cut <= length; cut++) {
                    List<Json> records = chain.subList(0, cut);
                    Set<String> begun = begun(moment.state(), records);
                    Set<String> again = resumed(records).stream()
                            .flatMap(resumed -> handedOut(resumed).stream())
                            .filter(begun::contains)
                            .collect(Collectors.toSet());
                    assertThat(again)
                            .as("seed %d, the first %d of %d records", seed, cut, chain.size())
                            .isEmpty();
                    batches += begun.isEmpty() ? 0 : 1;
                }
                known = Math.max(known, length);
            }
        }
        assertThat(batches).isGreaterThan(100);
    }
}
