package dev.waymark.client.list;

import java.util.List;
import java.util.Optional;

/**
 * Some of the server's threads. A page may hold fewer than were asked for, or none, though there are more.
 *
 * @param next what to ask for the next page with, if there may be one
 */
public record ThreadPage(List<ThreadSummary> threads, Optional<String> next) {
    public ThreadPage {
        threads = List.copyOf(threads);
    }
}
