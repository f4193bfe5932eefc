package dev.waymark.client.list;

import dev.waymark.contract.thread.ThreadIndex;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Selects one page of the server's threads.
 *
 * @param limit the maximum number of threads
 * @param after where the previous page ended, see {@link ThreadPage#next}
 * @param status only threads with this status: the status of the last turn, or {@code interrupted}
 */
public record ThreadPageRequest(
        int limit, Optional<String> after, boolean openOnly, Optional<String> status, Optional<String> agent) {
    /** Requests the first page, which has the newest threads. */
    public static ThreadPageRequest first(int limit) {
        return new ThreadPageRequest(limit, Optional.empty(), false, Optional.empty(), Optional.empty());
    }

    /** Returns a condition to append to a visibility query. It may match more threads than are wanted. */
    String condition() {
        return Stream.of(status.flatMap(ThreadIndex::mayHaveStatus), agent.flatMap(ThreadIndex::mayBeOf))
                .flatMap(Optional::stream)
                .map(part -> " AND " + part)
                .collect(Collectors.joining());
    }

    /** Returns whether a thread has the requested status and agent. */
    public boolean wants(ThreadSummary thread) {
        return status.map(thread.status()::equals).orElse(true)
                && agent.map(thread.agent()::equals).orElse(true);
    }
}
