package dev.waymark.client.list;

import dev.waymark.contract.thread.ThreadIndex;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which threads to list.
 *
 * @param limit how many at most
 * @param after where the page before ended, see {@link ThreadPage#next}
 * @param status only those whose last turn has this status, or that are {@code interrupted}
 */
public record ThreadPageRequest(
        int limit, Optional<String> after, boolean openOnly, Optional<String> status, Optional<String> agent) {
    /** The newest threads. */
    public static ThreadPageRequest first(int limit) {
        return new ThreadPageRequest(limit, Optional.empty(), false, Optional.empty(), Optional.empty());
    }

    /** The condition of a visibility query, to be added to others. What it finds may be more than is wanted. */
    String condition() {
        return Stream.of(status.flatMap(ThreadIndex::mayHaveStatus), agent.flatMap(ThreadIndex::mayBeOf))
                .flatMap(Optional::stream)
                .map(part -> " AND " + part)
                .collect(Collectors.joining());
    }

    /** Whether a thread has the status and the agent that are asked for. */
    public boolean wants(ThreadSummary thread) {
        return status.map(thread.status()::equals).orElse(true)
                && agent.map(thread.agent()::equals).orElse(true);
    }
}
