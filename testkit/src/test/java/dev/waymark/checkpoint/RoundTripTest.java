package dev.waymark.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Step;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Pairing;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Timeline;
import dev.waymark.testkit.GeneratedThread;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A thread that continues from a checkpoint has a checkpoint with the same content. */
@Tag("full")
class RoundTripTest {
    private static final int OF_EACH_KIND = 200;
    private static final Json NOTHING = Json.of(List.of());
    private static final Instant LATER = Instant.parse("2026-06-01T09:00:00Z");
    private static final Resumption ONWARD =
            new Resumption("r", Optional.empty(), Optional.empty(), Optional.empty(), false, Optional.empty());

    private static Json view(CheckpointFormat format, Timeline timeline) {
        return format == CheckpointFormat.PHASES ? PhasesCheckpoint.latest(timeline) : format.view(timeline);
    }

    private static RestoredCheckpoint read(Json checkpoint) {
        return CheckpointReader.read(checkpoint.canonical().getBytes(StandardCharsets.UTF_8), LATER);
    }

    /** The situations that a conversation can be in. */
    private enum Kind {
        UNDER_WAY,
        WAITING,
        COMPLETE,
        FAILED,
        AT_ITS_LIMIT,
        STOPPED,
        CANCELLED,
        CONTINUED_AS_NEW;

        static Set<Kind> of(Timeline timeline) {
            Conversation now = timeline.now();
            Set<Kind> kinds = EnumSet.noneOf(Kind.class);
            if (!timeline.runId().equals("run-1")) {
                kinds.add(CONTINUED_AS_NEW);
            }
            switch (now.turn().status()) {
                case RUNNING -> kinds.add(now.isInterrupted() ? WAITING : UNDER_WAY);
                case COMPLETE -> kinds.add(COMPLETE);
                case FAILED -> kinds.add(FAILED);
                case MAX_ITERATIONS -> kinds.add(AT_ITS_LIMIT);
                case STOPPED -> kinds.add(STOPPED);
                case CANCELLED -> kinds.add(CANCELLED);
                case NONE -> {
                    // The thread has had no turn.
                }
            }
            return kinds;
        }
    }

    private static final Map<Long, Timeline> CONVERSATIONS = enoughOfEachKind();

    private static Map<Long, Timeline> enoughOfEachKind() {
        Map<Long, Timeline> conversations = new LinkedHashMap<>();
        Map<Kind, Integer> seen = new EnumMap<>(Kind.class);
        for (long seed = 0; !hasEnough(seen); seed++) {
            assertThat(seed)
                    .as("conversations until there are enough of each kind: %s", seen)
                    .isLessThan(20_000);
            Timeline timeline = GeneratedThread.of(seed);
            if (timeline.now().transcript().isEmpty()) {
                continue;
            }
            Set<Kind> kinds = Kind.of(timeline);
            // Skips conversations if all of their kinds already have enough examples.
            if (kinds.stream().anyMatch(kind -> seen.getOrDefault(kind, 0) < OF_EACH_KIND)) {
                kinds.forEach(kind -> seen.merge(kind, 1, Integer::sum));
                conversations.put(seed, timeline);
            }
        }
        return conversations;
    }

    private static boolean hasEnough(Map<Kind, Integer> seen) {
        return Arrays.stream(Kind.values()).allMatch(kind -> seen.getOrDefault(kind, 0) >= OF_EACH_KIND);
    }

    /** A conversation, its checkpoint, and the result of reading that checkpoint. */
    private record Trip(long seed, Timeline timeline, Json before, RestoredCheckpoint recovered) {}

    private static final Map<CheckpointFormat, List<Trip>> TRIPS = new EnumMap<>(CheckpointFormat.class);

    private static List<Trip> trips(CheckpointFormat format) {
        return TRIPS.computeIfAbsent(format, wanted -> {
            List<Trip> trips = new ArrayList<>();
            CONVERSATIONS.forEach((seed, timeline) -> {
                Json before = view(wanted, timeline);
                if (!before.equals(NOTHING)) {
                    trips.add(new Trip(seed, timeline, before, read(before)));
                }
            });
            return trips;
        });
    }

    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void everyConversation_readBack_hasTheSameCheckpoint(CheckpointFormat format) {
        for (Trip trip : trips(format)) {
            assertThat(trip.recovered().format()).isEqualTo(format);
            // No format can store messages that the model has not received yet.
            if (trip.timeline().now().queue().isEmpty()) {
                Timeline begun = GeneratedThread.begunWith(trip.recovered().state(), "team/a:42");
                assertSame(trip.seed(), newest(trip.before()), view(format, begun));
            }
        }
    }

    /**
     * Keeps only the newest of several versions, because a thread that continues from them starts with the newest one.
     */
    private static Json newest(Json view) {
        return view.value() instanceof List<?> list
                        && list.get(0) instanceof Map<?, ?> first
                        && first.containsKey("transcript")
                ? Json.of(List.of(list.get(list.size() - 1)))
                : view;
    }

    @ParameterizedTest
    @EnumSource(CheckpointFormat.class)
    void everyConversation_continued_hasTheSameCheckpointAndIsAcceptedByProviders(CheckpointFormat format) {
        for (Trip trip : trips(format)) {
            long seed = trip.seed();
            Timeline timeline = trip.timeline();
            Conversation resumed = Rules.apply(
                    Rules.apply(
                            Rules.resume(trip.recovered().state(), ONWARD, LATER),
                            new ThreadFact.AgentRequested(),
                            LATER),
                    new ThreadFact.AgentResolved(GeneratedThread.policy()),
                    LATER);

            boolean isVersion = format != CheckpointFormat.VERSIONS
                    || timeline.versions()
                            .get(timeline.versions().size() - 1)
                            .state()
                            .equals(timeline.now());
            boolean settled =
                    isToldOf(timeline.now(), format) || timeline.now().turn().status() == Turn.Status.COMPLETE;
            if (settled && isVersion) {
                assertThat(resumed.isSettled()).as("seed %d", seed).isTrue();
                assertSame(seed, newest(trip.before()), view(format, GeneratedThread.begunWith(resumed, "team/a:42")));
            }
            if (Rules.nextSteps(resumed).stream().anyMatch(Step.CallModel.class::isInstance)) {
                List<Message> asked = Rules.apply(
                                resumed,
                                new ModelFact.ModelCalled(resumed.counters().steps() + 1),
                                LATER)
                        .transcript()
                        .messages();
                assertThat(Pairing.violation(asked)).as("seed %d", seed).isEmpty();
            }
        }
    }

    /** Whether the conversation waits only for people, and the format shows this for each call. */
    private static boolean isToldOf(Conversation now, CheckpointFormat format) {
        boolean toolsAsk = now.openCalls().stream()
                .anyMatch(call ->
                        call.status() == Call.Status.ASKING && !call.tool().equals("ask_user"));
        return switch (format) {
            case THREAD, PHASES ->
                CheckpointMessages.waiting(now).isPresent()
                        && (!toolsAsk || now.openCalls().size() == 1);
            case RUNNER ->
                CheckpointMessages.interruption(now).isPresent()
                        && (!toolsAsk || now.openCalls().size() == 1);
            case MESSAGES, VERSIONS -> CheckpointMessages.interruption(now).isPresent() && !toolsAsk;
            // A call that waits for approval has no row. Once another thread has the call, it may have run, and has
            // one.
            case SESSION ->
                CheckpointMessages.interruption(now).isPresent()
                        && now.openCalls().stream().allMatch(call -> call.tool().equals("ask_user"));
        };
    }

    /**
     * Fields that may differ between the two threads: ids of runs, times of changes, the number of replayed effects,
     * and the version, because repeating a question to a person makes a new version.
     */
    private static final Set<String> ITS_OWN =
            Set.of("run_id", "timestamp_ms", "updatedAt", "updated_at", "replayed_effect_count", "version");

    private static boolean isItsOwn(Object name, Map<?, ?> map) {
        return ITS_OWN.contains((String) name) || (name.equals("created_at") && map.containsKey("version"));
    }

    private static void assertSame(long seed, Json before, Json after) {
        assertThat(before.equals(after) ? Optional.empty() : difference("", before.value(), after.value()))
                .as("seed %d", seed)
                .isEmpty();
    }

    /** The first place where two checkpoints differ, with both values. */
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
