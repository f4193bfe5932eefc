package dev.waymark.client.directory;

import com.google.protobuf.ByteString;
import dev.waymark.client.list.PendingPage;
import dev.waymark.conversation.decision.PendingItem;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Where a page of requests ended, on a server without search attributes. The position names the last request instead of
 * counting requests, so that the next page skips nothing if requests are answered in the meantime.
 */
public record PendingPosition(Instant since, String thread, String callId) {
    /** Sorts requests by age, and requests of the same time by thread and call. */
    public static final Comparator<PendingItem> OLDEST_FIRST = Comparator.comparing(PendingPosition::of, order());

    private static Comparator<PendingPosition> order() {
        return Comparator.comparing(PendingPosition::since)
                .thenComparing(PendingPosition::thread)
                .thenComparing(PendingPosition::callId);
    }

    private static PendingPosition of(PendingItem item) {
        return new PendingPosition(item.since(), item.thread(), item.callId());
    }

    public static PendingPosition parse(String page) {
        try {
            String[] parts = PageCursor.parse(page).toStringUtf8().split("\n", 3);
            if (parts.length == 3) {
                return new PendingPosition(Instant.parse(parts[0]), parts[1], parts[2]);
            }
        } catch (DateTimeException e) {
            // Refused below.
        }
        throw PageCursor.noSuchPage(page);
    }

    private String encoded() {
        return PageCursor.of(ByteString.copyFromUtf8(since + "\n" + thread + "\n" + callId));
    }

    /**
     * Returns the page that follows a position.
     *
     * @param sorted all requests, in the order of {@link #OLDEST_FIRST}
     * @param limit the maximum number of threads
     */
    public static PendingPage page(List<PendingItem> sorted, Optional<PendingPosition> after, int limit) {
        List<PendingItem> rest = sorted.stream()
                .filter(item -> after.isEmpty() || order().compare(of(item), after.get()) > 0)
                .toList();
        List<PendingItem> page = new ArrayList<>();
        Set<String> threads = new LinkedHashSet<>();
        for (PendingItem item : rest) {
            if (threads.add(item.thread()) && threads.size() > limit) {
                return new PendingPage(
                        page, Optional.of(of(page.get(page.size() - 1)).encoded()));
            }
            page.add(item);
        }
        return new PendingPage(page, Optional.empty());
    }
}
