package dev.waymark.conversation.state;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SeenIdsTest {
    @Test
    void seen_newestThousandIds_areRemembered() {
        SeenIds seen = SeenIds.NOTHING;
        for (int i = 0; i < 5_500; i++) {
            seen = seen.with("id-" + i, i);
            for (int back : new int[] {0, 1, 500, 999}) {
                assertThat(seen.contains("id-" + Math.max(0, i - back))).isTrue();
            }
        }
    }

    @Test
    void seen_afterTwoThousandMoreIds_forgets() {
        SeenIds seen = SeenIds.NOTHING.with("first", 0);
        for (int i = 0; i < 2 * SeenIds.GENERATION; i++) {
            seen = seen.with("id-" + i, i);
        }

        assertThat(seen.contains("first")).isFalse();
        assertThat(seen.young().size() + seen.old().size()).isLessThanOrEqualTo(2 * SeenIds.GENERATION);
    }
}
