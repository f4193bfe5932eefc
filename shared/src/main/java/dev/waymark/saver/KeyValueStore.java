package dev.waymark.saver;

import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A store of texts under keys, such as a database or a persistent cache. Implement this for a new kind of storage;
 * {@link KeyValueSaver} turns it into a saver.
 *
 * <p>A key is any text without lone surrogates: it may contain NUL, be several kilobytes long, and differ from another
 * key only in case or composition. Stores with more limited keys must encode them. Values are JSON of up to some
 * megabytes, without NUL. {@link #put} and {@link #replace} are atomic, and durable once they return. Thread-safe, and
 * usable by several processes at once. The contract suite in the testkit is {@code KeyValueStoreContract}.
 *
 * <p>Failures are thrown as {@link SaverException#failed}.
 */
public interface KeyValueStore extends AutoCloseable {
    /** The value of a key; empty if there is no entry. */
    Optional<String> get(String key);

    /** Creates the entry or replaces its value. */
    void put(String key, String value);

    /**
     * Like {@link #put}, if the entry has the expected value at that moment; otherwise nothing changes. If several
     * callers expect the same value and write others, one of them succeeds.
     *
     * @param expected empty if there must be no entry
     * @return whether the value was written
     */
    boolean replace(String key, Optional<String> expected, String value);

    /** Deletes the entry, if it exists. */
    void delete(String key);

    /** All keys that start with this prefix, compared by characters, in any order. */
    List<String> list(String prefix);

    /** The values of all keys that start with this prefix. */
    default SortedMap<String, String> entries(String prefix) {
        SortedMap<String, String> entries = new TreeMap<>();
        list(prefix).forEach(key -> get(key).ifPresent(value -> entries.put(key, value)));
        return entries;
    }

    /** Where the entry is stored, for error messages. */
    default String place(String key) {
        return key;
    }

    /**
     * Does the work while nobody else changes an entry, if this store can exclude others. {@link KeyValueSaver} needs
     * that only to refuse a save that began before another thread took over, and has saved nothing yet.
     */
    default <T> T exclusively(Supplier<T> work) {
        return work.get();
    }

    @Override
    default void close() {}
}
