package dev.waymark.display;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class IdPrefixTest {
    private static final List<String> IDS =
            List.of("trip", "trip/tu_1", "trial", "thread_3c49", "day/tu_1", "day/tu_2");

    @Test
    void prefix_ofOneId_matchesIt() {
        assertThat(IdPrefix.matches("thread_3c4", IDS)).containsExactly("thread_3c49");
        assertThat(IdPrefix.matches("th", IDS)).containsExactly("thread_3c49");
    }

    @Test
    void prefix_ofSeveralIds_matchesAllOfThem() {
        assertThat(IdPrefix.matches("tri", IDS)).containsExactly("trial", "trip");
        assertThat(IdPrefix.matches("day", IDS)).containsExactly("day/tu_1", "day/tu_2");
    }

    @Test
    void wholeId_matchesOnlyItself() {
        assertThat(IdPrefix.matches("trip", List.of("trip", "trip2"))).containsExactly("trip");
        assertThat(IdPrefix.matches("trip", IDS)).containsExactly("trip");
        assertThat(IdPrefix.matches("trip/", IDS)).containsExactly("trip/tu_1");
    }

    @Test
    void otherPrefix_matchesNothing() {
        assertThat(IdPrefix.matches("x", IDS)).isEmpty();
    }
}
