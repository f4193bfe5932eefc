package dev.waymark.client.list;

import java.util.List;
import java.util.Optional;

/**
 * One page of the server's threads. A page may have fewer threads than the limit, or none, although there are more.
 *
 * @param next the position of the next page, if there may be one
 */
public record ThreadPage(List<ThreadSummary> threads, Optional<String> next) {
    public ThreadPage {
        threads = List.copyOf(threads);
    }
}
