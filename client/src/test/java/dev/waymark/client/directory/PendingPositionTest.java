package dev.waymark.client.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.PendingPage;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.value.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PendingPositionTest {
    private static final Instant NOON = Instant.parse("2026-11-24T12:00:00.123456789Z");

    private static PendingItem item(String thread, String call, int second) {
        return Call.issued(new Part.ToolUse(call, "ask_user", Json.EMPTY_OBJECT), 1, NOON)
                .asking("Which?", NOON.plusSeconds(second))
                .request(Optional.empty())
                .in(thread);
    }

    private static PendingPage page(List<PendingItem> items, Optional<String> after, int limit) {
        return PendingPosition.page(items, after.map(PendingPosition::parse), limit);
    }

    private static List<PendingItem> sorted(PendingItem... items) {
        return Stream.of(items).sorted(PendingPosition.OLDEST_FIRST).toList();
    }

    @Test
    void pages_readOneAfterTheOther_listEachRequestOnce() {
        List<PendingItem> all = sorted(
                item("b", "call\n2", 1),
                item("a", "call\n1", 1),
                item("a", "call 3", 1),
                item("c", "call 1", 0),
                item("a", "call 4", 2));

        List<PendingItem> read = new ArrayList<>();
        Optional<String> after = Optional.empty();
        do {
            PendingPage page = page(all, after, 1);
            assertThat(page.items().stream().map(PendingItem::thread).distinct())
                    .hasSize(1);
            read.addAll(page.items());
            after = page.next();
        } while (after.isPresent());

        assertThat(read).isEqualTo(all);
    }

    @Test
    void lastRequestOfPage_answered_nextPageSkipsNothing() {
        PendingItem first = item("a", "1", 0);
        PendingItem second = item("b", "1", 1);
        Optional<String> next =
                page(List.of(first, second), Optional.empty(), 1).next();

        assertThat(page(List.of(second), next, 1)).isEqualTo(new PendingPage(List.of(second), Optional.empty()));
    }

    @Test
    void limit_countsThreads() {
        List<PendingItem> all = sorted(item("a", "1", 0), item("a", "2", 1), item("b", "1", 2));

        assertThat(page(all, Optional.empty(), 1).items()).isEqualTo(all.subList(0, 2));
        assertThat(page(all, Optional.empty(), 2)).isEqualTo(new PendingPage(all, Optional.empty()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "3", "!", "bm90IGEgcGFnZQ", "eApiCmM"})
    void position_unreadable_isRefused(String page) {
        assertThatThrownBy(() -> PendingPosition.parse(page))
                .isInstanceOf(WaymarkException.Refused.class)
                .hasMessageContaining("no such page: " + page);
    }
}
