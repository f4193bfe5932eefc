package dev.waymark.client.list;

import dev.waymark.contract.thread.PendingItem;
import java.util.List;
import java.util.Optional;

/**
 * Some of the requests that wait for people, oldest first. A page may hold fewer than were asked for though there are
 * more, but at least one then.
 *
 * @param next what to ask for the next page with, if there may be one
 */
public record PendingPage(List<PendingItem> items, Optional<String> next) {
    public PendingPage {
        items = List.copyOf(items);
    }
}
