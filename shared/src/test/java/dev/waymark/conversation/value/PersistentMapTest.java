package dev.waymark.conversation.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PersistentMapTest {
    @Test
    void with_randomChanges_agreesWithATreeMap() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            TreeMap<String, Integer> expected = new TreeMap<>();
            PersistentMap<Integer> index = PersistentMap.empty();
            for (int i = 0; i < 300; i++) {
                String key = "k" + random.nextInt(120);
                index = index.with(key, i);
                expected.put(key, i);
                String probe = "k" + random.nextInt(150);
                assertThat(index.get(probe).orElse(null)).as("seed %s", seed).isEqualTo(expected.get(probe));
            }
            assertThat(index.size()).isEqualTo(expected.size());
            assertThat(new ArrayList<>(index.toMap().entrySet())).isEqualTo(new ArrayList<>(expected.entrySet()));
        }
    }

    @Test
    void without_randomChanges_agreesWithATreeMap() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            TreeMap<String, Integer> expected = new TreeMap<>();
            PersistentMap<Integer> index = PersistentMap.empty();
            for (int i = 0; i < 300; i++) {
                String added = "k" + random.nextInt(120);
                index = index.with(added, i);
                expected.put(added, i);
                String removed = "k" + random.nextInt(120);
                index = index.without(removed);
                expected.remove(removed);
                assertThat(index.size()).as("seed %s", seed).isEqualTo(expected.size());
            }
            assertThat(new ArrayList<>(index.toMap().entrySet())).isEqualTo(new ArrayList<>(expected.entrySet()));
        }
    }

    @Test
    void without_leavesTheOldMapUnchanged() {
        PersistentMap<Integer> before =
                PersistentMap.<Integer>empty().with("a", 1).with("b", 2);

        assertThat(before.without("a").toMap()).isEqualTo(Map.of("b", 2));
        assertThat(before.toMap()).isEqualTo(Map.of("a", 1, "b", 2));
        assertThat(before.without("c")).isSameAs(before);
    }

    @Test
    void with_ascendingKeys_staysShallow() {
        PersistentMap<Integer> index = PersistentMap.empty();
        for (int i = 0; i < 100_000; i++) {
            index = index.with(String.format("%06d", i), i);
        }

        assertThat(index.get("099999")).contains(99_999);
        assertThat(index.size()).isEqualTo(100_000);
    }

    @Test
    void with_leavesTheOldMapUnchanged() {
        PersistentMap<Integer> before = PersistentMap.<Integer>empty().with("a", 1);
        before.with("a", 2).with("b", 3);

        assertThat(before.toMap()).isEqualTo(Map.of("a", 1));
    }

    @Test
    void equals_sameEntriesInAnotherOrder_areEqual() {
        assertThat(PersistentMap.<Integer>empty().with("a", 1).with("b", 2).with("c", 3))
                .isEqualTo(PersistentMap.<Integer>empty()
                        .with("c", 3)
                        .with("b", 0)
                        .with("a", 1)
                        .with("b", 2))
                .isNotEqualTo(
                        PersistentMap.<Integer>empty().with("a", 1).with("b", 2).with("c", 4));
        assertThat(List.copyOf(new PersistentMap<>(Map.of("x", 1)).toMap().keySet()))
                .containsExactly("x");
    }
}
