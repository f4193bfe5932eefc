package dev.waymark.thread;

import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.IgnoredSignal;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The answer to the {@code status} query: a short summary of the thread. */
public record StatusReport(
        String status,
        String phase,
        String agent,
        int turn,
        int iterations,
        Usage usage,
        int queued,
        int ignoredCount,
        List<IgnoredSignal> ignored,

        Optional<Usd> costUsd) {
    /** The status of a thread that waits for people only. */
    public static final String INTERRUPTED = "interrupted";

    /** All statuses that a thread can have. */
    public static final List<String> STATUSES = Stream.concat(
                    Stream.of(INTERRUPTED), Arrays.stream(Turn.Status.values()).map(Turn.Status::wireName))
            .toList();
}
