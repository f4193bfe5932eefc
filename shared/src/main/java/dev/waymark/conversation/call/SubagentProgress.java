package dev.waymark.conversation.call;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.value.Spent;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What a thread reports to its parent while it runs: its spending, and the requests that wait for people in that thread or
 * its own subagents.
 *
 * @param waiting whether only people can continue the thread
 * @param spent the spending since the thread started, including its own subagents
 * @param ended how the last turn ended; only for a parent that is not a thread, and only if no turn runs
 */
public record SubagentProgress(
        boolean waiting,

        @JsonIgnoreProperties({"thread", "outcomes", "whyNoRerun"})
        List<PendingItem> asks,

        Spent spent,
        Optional<TurnEnd> ended) {
    /** The maximum number of requests in a report. */
    private static final int MAX_ASKS = 50;

    /**
     * The maximum number of characters of all questions together, and of all arguments together: a report is one
     * payload.
     */
    public static final int MAX_LENGTH = 60_000;

    public static final SubagentProgress NONE = new SubagentProgress(false, List.of(), Spent.NOTHING);

    public SubagentProgress {
        asks = List.copyOf(asks);
        Objects.requireNonNull(spent, "spent");
    }

    public SubagentProgress(boolean waiting, List<PendingItem> asks, Spent spent) {
        this(waiting, asks, spent, Optional.empty());
    }

    /** A copy with the end of the last turn. */
    public SubagentProgress withEnded(Optional<TurnEnd> turn) {
        return new SubagentProgress(waiting, asks, spent, turn);
    }

    /** A report with the first of these requests, shortened so that it fits into one payload. */
    public static SubagentProgress of(List<PendingItem> requests, boolean waiting, Spent spent) {
        List<PendingItem> asks = requests.stream().limit(MAX_ASKS).toList();
        int most = MAX_LENGTH / Math.max(1, asks.size());
        return new SubagentProgress(
                waiting, asks.stream().map(ask -> ask.shortened(most)).toList(), spent);
    }
}
