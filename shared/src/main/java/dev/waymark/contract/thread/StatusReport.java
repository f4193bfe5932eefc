package dev.waymark.contract.thread;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.state.IgnoredSignals;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The answer to the {@code status} query: a short summary of the thread. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record StatusReport(
        @JsonProperty("status") String status,
        @JsonProperty("phase") String phase,
        @JsonProperty("agent") String agent,
        @JsonProperty("turn") int turn,
        @JsonProperty("iterations") int iterations,
        @JsonProperty("usage") Usage usage,
        @JsonProperty("queued") int queued,
        @JsonProperty("ignoredCount") int ignoredCount,
        @JsonProperty("ignored") List<IgnoredSignals.Item> ignored,

        @JsonProperty("costUsd") @JsonInclude(JsonInclude.Include.NON_ABSENT)
        Optional<Usd> costUsd) {
    private static final String INTERRUPTED = "interrupted";

    /** All statuses that a thread can have. */
    public static final List<String> STATUSES = Stream.concat(
                    Stream.of(INTERRUPTED), Arrays.stream(Turn.Status.values()).map(Turn.Status::wireName))
            .toList();

    @JsonCreator
    public StatusReport {
        costUsd = costUsd == null ? Optional.empty() : costUsd;
    }

    /** The status of a thread in this state. */
    public static StatusReport of(Conversation state) {
        return new StatusReport(
                state.isInterrupted() ? INTERRUPTED : state.turn().status().wireName(),
                state.phase().wireName(),
                state.agent(),
                state.turn().number(),
                state.turn().iterations(),
                state.turn().usage(),
                state.queue().size(),
                state.ignored().count(),
                state.ignored().last(),
                state.cost());
    }
}
