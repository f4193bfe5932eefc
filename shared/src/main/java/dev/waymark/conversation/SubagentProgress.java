package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.value.Spent;
import java.util.List;
import java.util.Objects;

/**
 * What a subagent's thread tells its parent while it lives: what waits for people there or below, and what it used.
 *
 * @param waiting nothing but people can bring it on
 * @param spent since the thread began, by whatever is below it too
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SubagentProgress(
        @JsonProperty("waiting") boolean waiting,
        @JsonProperty("asks") List<OpenRequest> asks,
        @JsonProperty("spent") Spent spent) {
    /** The most that is told at a time. */
    static final int MAX_ASKS = 50;

    /** The characters that these share, of questions and of arguments each: a report is one payload. */
    static final int MAX_LENGTH = 60_000;

    static final SubagentProgress NONE = new SubagentProgress(false, List.of(), Spent.NOTHING);

    @JsonCreator
    public SubagentProgress {
        asks = List.copyOf(asks);
        Objects.requireNonNull(spent, "spent");
    }

    static SubagentProgress of(Conversation state) {
        List<OpenRequest> asks = state.asks().stream().limit(MAX_ASKS).toList();
        int most = MAX_LENGTH / Math.max(1, asks.size());
        return new SubagentProgress(
                state.isInterrupted(),
                asks.stream().map(ask -> ask.shortened(most)).toList(),
                state.spent());
    }
}
