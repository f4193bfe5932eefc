package dev.waymark.conversation.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PersistentListTest {
    private static final PersistentList<Integer> ONE_TO_THREE =
            PersistentList.<Integer>empty().plus(1).plus(2).plus(3);

    @Test
    void toList_isInOrder() {
        assertThat(ONE_TO_THREE.toList()).containsExactly(1, 2, 3);
    }

    @Test
    void plus_twiceOnOneList_makesTwoBranches() {
        assertThat(ONE_TO_THREE.plus(4).toList()).containsExactly(1, 2, 3, 4);
        assertThat(ONE_TO_THREE.plus(5).toList()).containsExactly(1, 2, 3, 5);
    }

    @Test
    void list_createdAtOnce_equalsTheAppendedOne() {
        assertThat(new PersistentList<>(List.of(1, 2, 3)))
                .isEqualTo(ONE_TO_THREE)
                .hasSameHashCodeAs(ONE_TO_THREE)
                .isNotEqualTo(new PersistentList<>(List.of(0, 2, 3)))
                .isNotEqualTo(new PersistentList<>(List.of(2, 3)));
        assertThat(new PersistentList<>(List.of())).isEqualTo(PersistentList.empty());
    }

    @Test
    void tail_longerThanTheList_isTheWholeList() {
        assertThat(ONE_TO_THREE.tail(2)).containsExactly(2, 3);
        assertThat(ONE_TO_THREE.tail(9)).containsExactly(1, 2, 3);
        assertThat(ONE_TO_THREE.tail(0)).isEmpty();
    }

    @Test
    void list_ofAHundredThousand_needsNoStack() {
        List<Integer> items = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            items.add(i);
        }

        assertThat(new PersistentList<>(items).equals(new PersistentList<>(items)))
                .isTrue();
        assertThat(new PersistentList<>(items).toList()).isEqualTo(items);
    }
}
