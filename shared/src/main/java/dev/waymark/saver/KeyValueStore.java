package dev.waymark.saver;

import java.util.List;
import java.util.Optional;

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

    @Override
    default void close() {}
}
