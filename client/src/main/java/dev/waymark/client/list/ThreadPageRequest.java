package dev.waymark.client.list;

import java.util.Optional;

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

    /** Whether a thread has the status and the agent that are asked for. */
    public boolean wants(ThreadSummary thread) {
        return status.map(thread.status()::equals).orElse(true)
                && agent.map(thread.agent()::equals).orElse(true);
    }
}
