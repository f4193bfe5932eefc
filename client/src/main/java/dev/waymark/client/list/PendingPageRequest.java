package dev.waymark.client.list;

import dev.waymark.contract.thread.PendingItem;
import dev.waymark.contract.thread.ThreadIndex;
import java.util.Optional;

/**
 * Which requests that wait for people to list.
 *
 * @param limit of how many threads at most
 * @param after where the page before ended, see {@link PendingPage#next}
 * @param kind only requests of this kind, see {@link PendingItem}
 * @param status only those of threads with this status
 * @param agent only those of threads of this agent
 */
public record PendingPageRequest(
        int limit, Optional<String> after, Optional<String> kind, Optional<String> status, Optional<String> agent) {
    /** The requests of the newest threads. */
    public static PendingPageRequest first(int limit) {
        return new PendingPageRequest(limit, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** The condition of a visibility query, to be added to others. What it finds may be more than is wanted. */
    String condition() {
        return " AND " + ThreadIndex.mayWait(kind) + threads().condition();
    }

    /** The threads whose requests are wanted. */
    public ThreadPageRequest threads() {
        return new ThreadPageRequest(limit, after, true, status, agent);
    }

    public boolean wants(PendingItem item) {
        return kind.map(item.kind()::equals).orElse(true);
    }
}
