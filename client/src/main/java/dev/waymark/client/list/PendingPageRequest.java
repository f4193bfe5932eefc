package dev.waymark.client.list;

import dev.waymark.conversation.decision.PendingItem;
import java.util.Optional;

/**
 * Selects one page of the requests that wait for a person.
 *
 * @param limit the maximum number of threads whose requests are listed
 * @param after where the previous page ended, see {@link PendingPage#next}
 * @param kind only requests of this kind, see {@link PendingItem}
 * @param status only requests of threads with this status
 * @param agent only requests of threads of this agent
 */
public record PendingPageRequest(
        int limit, Optional<String> after, Optional<String> kind, Optional<String> status, Optional<String> agent) {
    /** Requests the first page, without conditions. */
    public static PendingPageRequest first(int limit) {
        return new PendingPageRequest(limit, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    /** Returns the part of this request that selects threads. */
    public ThreadPageRequest threads() {
        return new ThreadPageRequest(limit, after, true, status, agent);
    }

    /** Whether an item has the kind that this request asks for. */
    public boolean wants(PendingItem item) {
        return kind.map(item.kind().wireName()::equals).orElse(true);
    }
}
