package dev.waymark.contract;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Ignored;
import dev.waymark.conversation.Usage;
import java.util.List;

/** What the {@code status} query answers: the thread at a glance. */
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
        @JsonProperty("ignored") List<Ignored.Item> ignored) {
    @JsonCreator
    public StatusReport {}

    public static StatusReport of(Conversation state) {
        return new StatusReport(
                state.isInterrupted() ? "interrupted" : state.turn().status().wireName(),
                state.phase().wireName(),
                state.agent(),
                state.turn().number(),
                state.turn().iterations(),
                state.turn().usage(),
                state.queue().size(),
                state.ignored().count(),
                state.ignored().last());
    }
}
