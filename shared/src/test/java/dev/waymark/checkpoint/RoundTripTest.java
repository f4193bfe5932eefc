package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Fact;
import dev.waymark.conversation.Json;
import dev.waymark.conversation.Message;
import dev.waymark.conversation.Pairing;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.Turn;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a checkpoint says of a conversation is what the next one says, when a thread went on from the first. */
class RoundTripTest {
    private static final int CONVERSATIONS = 300;
    private static final Instant LATER = Instant.parse("2026-06-01T09:00:00Z");
    private static final Resumption ONWARD =
            new Resumption("r", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty());

    private static Json view(CheckpointFormat format, Timeline timeline) {
        return format == CheckpointFormat.PHASES ? PhasesCheckpoint.latest(timeline) : format.view(timeline);
    }

    private static Recovered read(Json checkpoint) {
        return CheckpointReader.read(checkpoint.canonical().getBytes(StandardCharsets.UTF_8), LATER);
    }

    @ParameterizedTest
    @EnumSource(value = CheckpointFormat.class, names = "VERSIONS", mode = EnumSource.Mode.EXCLUDE)
    void everyMoment_readBack_isShownTheSame(CheckpointFormat format) {
        for (long seed = 0; seed < CONVERSATIONS; seed++) {
            Timeline whole = Lived.of(seed);
            for (Moment moment : List.of(
                    whole.moments().get(whole.moments().size() / 2),
                    whole.moments().get(whole.moments().size() - 1))) {
                Timeline timeline = whole.upTo(moment);
                boolean unheld = timeline.now().transcript().isEmpty()
                        || !timeline.now().queue().isEmpty();
                if (unheld) {
                    continue; // No format has a place for what was not said to the model yet.
                }
                Json before = view(format, timeline);
                Recovered recovered = read(before);
                Json after = view(format, Lived.begunWith(recovered.state(), "team/a:42"));

                assertThat(recovered.format()).isEqualTo(format);
                assertSame(seed, before, after);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = CheckpointFormat.class, names = "VERSIONS", mode = EnumSource.Mode.EXCLUDE)
    void everyConversation_goneOnFrom_isTakenByProviders(CheckpointFormat format) {
        for (long seed = 0; seed < CONVERSATIONS; seed++) {
            Timeline timeline = Lived.of(seed);
            if (timeline.now().transcript().isEmpty()) {
                continue;
            }
            Conversation resumed = ONWARD.of(read(view(format, timeline)).state(), LATER)
                    .apply(new Fact.AgentRequested(), LATER)
                    .apply(new Fact.AgentResolved(Lived.terms()), LATER);

            boolean settled =
                    timeline.now().isInterrupted() || timeline.now().turn().status() == Turn.Status.COMPLETE;
            if (settled) {
                assertThat(resumed.isSettled()).as("seed %d", seed).isTrue();
                assertSame(seed, view(format, timeline), view(format, Lived.begunWith(resumed, "team/a:42")));
            }
            if (resumed.decide().stream().anyMatch(Step.CallModel.class::isInstance)) {
                List<Message> asked = resumed.apply(
                                new Fact.ModelCalled(resumed.counters().steps() + 1), LATER)
                        .transcript()
                        .messages();
                assertThat(Pairing.violation(asked)).as("seed %d", seed).isEmpty();
            }
        }
    }

    /**
     * Which run, and when it changed last: no two threads have that in common. Replays are counted on purpose, and where a
     * person is asked once more there is a version of that.
     */
    private static final Set<String> ITS_OWN =
            Set.of("run_id", "timestamp_ms", "updatedAt", "updated_at", "replayed_effect_count", "version");

    private static boolean isItsOwn(Object name, Map<?, ?> map) {
        return ITS_OWN.contains((String) name) || (name.equals("created_at") && map.containsKey("version"));
    }

    private static void assertSame(long seed, Json before, Json after) {
        assertThat(difference("", before.value(), after.value()))
                .as("seed %d", seed)
                .isEmpty();
    }

    /** The first place where two checkpoints differ, and what stands there in both. */
    private static Optional<String> difference(String place, Object before, Object after) {
        if (before instanceof Map<?, ?> left && after instanceof Map<?, ?> right) {
            if (!left.keySet().equals(right.keySet())) {
                return Optional.of(place + ": " + left.keySet() + " | " + right.keySet());
            }
            return left.keySet().stream()
                    .filter(name -> !isItsOwn(name, left))
                    .flatMap(name -> difference(place + "." + name, left.get(name), right.get(name)).stream())
                    .findFirst();
        }
        if (before instanceof List<?> left && after instanceof List<?> right && left.size() == right.size()) {
            return IntStream.range(0, left.size())
                    .boxed()
                    .flatMap(i -> difference(place + "[" + i + "]", left.get(i), right.get(i)).stream())
                    .findFirst();
        }
        return Objects.equals(before, after) ? Optional.empty() : Optional.of(place + ": " + before + " | " + after);
    }
}
