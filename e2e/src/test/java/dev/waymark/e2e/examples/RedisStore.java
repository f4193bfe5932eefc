package dev.waymark.e2e.examples;

import dev.waymark.saver.KeyValueStore;
import java.util.List;
import java.util.Optional;

/** Everything that {@code KeyValueSaver} needs: five methods. */
final class RedisStore implements KeyValueStore {
    private final RedisClient redis;

    RedisStore(RedisClient redis) {
        this.redis = redis;
    }

    @Override
    public Optional<String> get(String key) {
        return redis.get(key);
    }

    @Override
    public void put(String key, String value) {
        redis.set(key, value);
    }

    @Override
    public boolean replace(String key, Optional<String> expected, String value) {
        return redis.compareAndSet(key, expected, value);
    }

    @Override
    public void delete(String key) {
        redis.del(key);
    }

    @Override
    public List<String> list(String prefix) {
        return redis.keys(prefix);
    }
}
