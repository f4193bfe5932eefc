package dev.waymark.saver;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/** A store in memory: for tests, and for programs that run once. Several savers can share it, each with its own namespace. */
public final class MemoryStore implements KeyValueStore {
    private final ConcurrentMap<String, String> entries = new ConcurrentHashMap<>();

    @Override
    public Optional<String> get(String key) {
        return Optional.ofNullable(entries.get(key));
    }

    @Override
    public void put(String key, String value) {
        entries.put(key, value);
    }

    @Override
    public boolean replace(String key, Optional<String> expected, String value) {
        return expected.map(old -> entries.replace(key, old, value))
                .orElseGet(() -> entries.putIfAbsent(key, value) == null);
    }

    @Override
    public void delete(String key) {
        entries.remove(key);
    }

    @Override
    public List<String> list(String prefix) {
        return entries.keySet().stream().filter(key -> key.startsWith(prefix)).toList();
    }

    @Override
    public <T> T exclusively(Supplier<T> work) {
        synchronized (entries) {
            return work.get();
        }
    }
}
