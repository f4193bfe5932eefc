package dev.waymark.e2e.examples;

import dev.waymark.saver.CheckpointSaver;
import dev.waymark.saver.KeyValueSaver;
import dev.waymark.saver.KeyValueStore;
import dev.waymark.testkit.CheckpointSaverContract;
import dev.waymark.testkit.KeyValueStoreContract;
import dev.waymark.testkit.SavedOwnersContract;
import org.junit.jupiter.api.Nested;

class RedisStoreTest extends KeyValueStoreContract {
    @Override
    protected KeyValueStore open() {
        return new RedisStore(new FakeRedis());
    }

    /** The saver that uses the store. */
    @Nested
    class AsASaver extends CheckpointSaverContract implements SavedOwnersContract {
        private final RedisClient redis = new FakeRedis();

        @Override
        protected CheckpointSaver open() {
            return new KeyValueSaver(new RedisStore(redis));
        }

        @Override
        public CheckpointSaver saverWithOwners() {
            return open();
        }
    }
}
