package dev.waymark.saver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.testkit.MemoryStore;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Two threads that save the same entry. The second one acts between the read and the write of the first one. */
class KeyValueSaverTest {
    private static final CheckpointOwner FIRST = CheckpointOwner.first("run-1", "a", "t");
    private static final CheckpointOwner NEXT = FIRST.succeededBy("run-2", "a");

    private final MemoryStore store = new MemoryStore();
    private final KeyValueSaver other = new KeyValueSaver(store);

    private static Json document(int step) {
        return Json.of(Map.of("threadId", "t", "step", step));
    }

    private static void save(CheckpointSaver saver, int step, CheckpointOwner owner) {
        saver.save(document(step), () -> document(step), owner);
    }

    /** A saver that runs {@code meanwhile} after its first read of the key. */
    private KeyValueSaver interrupted(String key, Runnable meanwhile) {
        return new KeyValueSaver(new InterruptedStore(store, key, meanwhile));
    }

    @Test
    void save_whileAnotherThreadSavesFirst_isRefused() {
        KeyValueSaver saver = interrupted("default/owners/t", () -> save(other, 2, NEXT));

        assertSuperseded(() -> save(saver, 1, FIRST));
        assertThat(other.owner("t")).contains(NEXT);
        assertThat(other.load("t")).contains(document(2));
    }

    @Test
    void save_whileAnotherThreadTakesOver_isRefused() {
        save(other, 1, FIRST);
        KeyValueSaver saver = interrupted("default/owners/t", () -> {
            other.handOver("t", NEXT);
            save(other, 2, NEXT);
        });

        assertSuperseded(() -> save(saver, 3, FIRST));
        assertThat(other.load("t")).contains(document(2));
    }

    @Test
    void handOver_whileAnotherThreadTakesOver_isRefused() {
        save(other, 1, FIRST);
        KeyValueSaver saver = interrupted("default/owners/t", () -> other.handOver("t", NEXT));

        assertSuperseded(() -> saver.handOver("t", FIRST.succeededBy("run-3", "a")));
        assertThat(other.owner("t")).contains(NEXT);
    }

    @Test
    void save_whileTheSameThreadSaves_isTheLast() {
        save(other, 1, FIRST);
        KeyValueSaver saver = interrupted("default/checkpoints/t", () -> save(other, 2, FIRST));

        save(saver, 3, FIRST);

        assertThat(other.load("t")).contains(document(3));
    }

    private static void assertSuperseded(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
        assertThatThrownBy(call)
                .asInstanceOf(type(SaverException.class))
                .returns(ProblemType.CHECKPOINT_SUPERSEDED, SaverException::type);
    }

    private static final class InterruptedStore implements KeyValueStore {
        private final KeyValueStore store;
        private final String key;
        private Optional<Runnable> meanwhile;

        InterruptedStore(KeyValueStore store, String key, Runnable meanwhile) {
            this.store = store;
            this.key = key;
            this.meanwhile = Optional.of(meanwhile);
        }

        @Override
        public Optional<String> get(String asked) {
            Optional<String> value = store.get(asked);
            if (asked.equals(key)) {
                Optional<Runnable> now = meanwhile;
                meanwhile = Optional.empty();
                now.ifPresent(Runnable::run);
            }
            return value;
        }

        @Override
        public void put(String at, String value) {
            store.put(at, value);
        }

        @Override
        public boolean replace(String at, Optional<String> expected, String value) {
            return store.replace(at, expected, value);
        }

        @Override
        public void delete(String at) {
            store.delete(at);
        }

        @Override
        public List<String> list(String prefix) {
            return store.list(prefix);
        }
    }
}
