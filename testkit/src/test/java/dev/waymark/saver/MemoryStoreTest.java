package dev.waymark.saver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.testkit.DurableSaverContract;
import dev.waymark.testkit.KeyValueStoreContract;
import dev.waymark.testkit.MemoryStore;
import dev.waymark.testkit.SavedOwnersContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class MemoryStoreTest {
    @Nested
    class Store extends KeyValueStoreContract {
        @Override
        protected KeyValueStore open() {
            return new MemoryStore();
        }
    }

    @Nested
    class Saver extends DurableSaverContract implements SavedOwnersContract {
        private final MemoryStore store = new MemoryStore();

        @Override
        protected CheckpointSaver open() {
            return new KeyValueSaver(store);
        }

        @Override
        public CheckpointSaver saverWithOwners() {
            return open();
        }

        @Override
        protected void replaceStored(String threadId, String text) {
            store.put("default/checkpoints/" + threadId, text);
        }

        @Test
        void save_namespaces_areSeparate() {
            CheckpointSaver billing = new KeyValueSaver(store, new Namespace("billing"));
            saver.save(checkpoint("t", 1));
            billing.save(checkpoint("t", 2));
            billing.save(checkpoint("u", 1));

            assertThat(saver.load("t")).contains(checkpoint("t", 1));
            assertThat(saver.list()).containsExactly("t");
            assertThat(billing.list()).containsExactly("t", "u");
            assertThat(store.list(""))
                    .containsExactlyInAnyOrder(
                            "default/checkpoints/t", "billing/checkpoints/t", "billing/checkpoints/u");
        }
    }
}
