package dev.waymark.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.saver.KeyValueStore;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of {@link KeyValueStore}, as tests. To test a store, extend this class, and also extend
 * {@link CheckpointSaverContract} or {@link DurableSaverContract} for a {@code KeyValueSaver} that uses the store.
 */
public abstract class KeyValueStoreContract {
    private KeyValueStore store;

    /** Opens an empty store. */
    protected abstract KeyValueStore open() throws Exception;

    @BeforeEach
    void openStore() throws Exception {
        store = open();
    }

    @AfterEach
    void closeStore() {
        if (store != null) {
            store.close();
        }
    }

    @Test
    void nothingPut_isEmpty() {
        assertThat(store.get("k")).isEmpty();
        assertThat(store.list("")).isEmpty();
    }

    @Test
    void get_put_isTheValue() {
        store.put("k", "v");

        assertThat(store.get("k")).contains("v");
    }

    @Test
    void get_putTwice_isTheNewerValue() {
        store.put("k", "old");
        store.put("k", "");

        assertThat(store.get("k")).contains("");
        assertThat(store.list("")).containsExactly("k");
    }

    @Test
    void get_anyValue_isUnchanged() {
        for (String value : List.of("", " v ", "\"\\'%_\n\r\t\u0001", "é\u0301\ud83d\ude80", "ü".repeat(2_000_000))) {
            store.put("k", value);
            assertThat(store.get("k")).contains(value);
        }
    }

    @Test
    void replace_expectedValue_isWritten() {
        assertThat(store.replace("k", Optional.empty(), "1")).isTrue();
        assertThat(store.replace("k", Optional.of("1"), "2")).isTrue();
        assertThat(store.replace("k", Optional.of("2"), "")).isTrue();
        assertThat(store.replace("k", Optional.of(""), "ü\ud83d\ude80".repeat(100_000)))
                .isTrue();
        assertThat(store.replace("k", Optional.of("ü\ud83d\ude80".repeat(100_000)), "3"))
                .isTrue();

        assertThat(store.get("k")).contains("3");
        assertThat(store.list("")).containsExactly("k");
    }

    @Test
    void replace_anotherValueOrNone_changesNothing() {
        assertThat(store.replace("k", Optional.of(""), "1")).isFalse();
        assertThat(store.get("k")).isEmpty();
        store.put("k", "v");

        assertThat(store.replace("k", Optional.empty(), "1")).isFalse();
        assertThat(store.replace("k", Optional.of("V"), "1")).isFalse();
        assertThat(store.replace("k", Optional.of("v "), "1")).isFalse();
        assertThat(store.get("k")).contains("v");
    }

    /** Each writer adds one to the number that it read, so the sum shows whether an addition was lost. */
    @Test
    void replace_byManyAtOnce_losesNoUpdate() throws Exception {
        int writers = 4;
        int additions = 20;
        CheckpointSaverContract.atOnce(writers, who -> {
            for (int i = 0; i < additions; i++) {
                Optional<String> old;
                String next;
                do {
                    old = store.get("k");
                    next = String.valueOf(old.map(Integer::parseInt).orElse(0) + 1);
                } while (!store.replace("k", old, next));
            }
        });

        assertThat(store.get("k")).contains(String.valueOf(writers * additions));
    }

    @Test
    void delete_put_isGone() {
        store.put("k", "v");
        store.put("l", "v");
        store.delete("k");
        store.delete("k");

        assertThat(store.get("k")).isEmpty();
        assertThat(store.list("")).containsExactly("l");
    }

    @Test
    void list_prefix_isTakenLiterally() {
        List<String> with = List.of("a_/", "a_/x", "a_/%", "a_/a_/", "a_/\u0000");
        List<String> without = List.of("a_", "ab/x", "A_/x", "a%/x", "x/a_/x", "");
        with.forEach(key -> store.put(key, "v"));
        without.forEach(key -> store.put(key, "v"));

        assertThat(store.list("a_/")).containsExactlyInAnyOrderElementsOf(with);
        assertThat(store.entries("a_/").keySet()).containsExactlyInAnyOrderElementsOf(with);
        assertThat(store.list("a_/none")).isEmpty();
        assertThat(store.list("")).hasSize(with.size() + without.size());
    }

    @Test
    void keys_awkward_areDistinctAndListedExactly() {
        List<String> keys = ThreadIds.awkward();
        for (int i = 0; i < keys.size(); i++) {
            store.put(keys.get(i), String.valueOf(i));
        }

        assertThat(store.list("")).containsExactlyInAnyOrderElementsOf(keys);
        for (int i = 0; i < keys.size(); i++) {
            assertThat(store.get(keys.get(i))).contains(String.valueOf(i));
        }
    }
}
