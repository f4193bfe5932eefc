package dev.waymark.client.list;

import dev.waymark.conversation.decision.PendingItem;
import java.util.List;
import java.util.Optional;

/**
 * One page of the requests that wait for a person, sorted by age, oldest first. A page before the last one may have few
 * requests, but has at least one.
 *
 * @param next the position of the next page, if there may be one
 */
public record PendingPage(List<PendingItem> items, Optional<String> next) {
    public PendingPage {
        items = List.copyOf(items);
    }
}
