package dev.waymark.e2e.examples;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** A store in memory, in place of a real one. */
final class FakeRedis implements RedisClient {
    private final ConcurrentMap<String, String> values = new ConcurrentHashMap<>();

    @Override
    public Optional<String> get(String key) {
        return Optional.ofNullable(values.get(key));
    }

    @Override
    public void set(String key, String value) {
        values.put(key, value);
    }

    @Override
    public boolean compareAndSet(String key, Optional<String> expected, String value) {
        return expected.map(old -> values.replace(key, old, value))
                .orElseGet(() -> values.putIfAbsent(key, value) == null);
    }

    @Override
    public void del(String key) {
        values.remove(key);
    }

    @Override
    public boolean exists(String key) {
        return values.containsKey(key);
    }

    @Override
    public List<String> keys(String prefix) {
        return values.keySet().stream().filter(key -> key.startsWith(prefix)).toList();
    }
}
