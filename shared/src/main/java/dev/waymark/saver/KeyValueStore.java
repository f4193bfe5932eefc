package dev.waymark.saver;

import java.util.List;
import java.util.Optional;

/**
 * A place for texts under keys, such as a database or a cache that is written to disk: what has to be written for a new
 * kind of storage. {@link KeyValueSaver} makes a saver of it.
 *
 * <p>Keys are any text without lone surrogates: with NUL, of several kilobytes, differing in case or composition only.
 * Stores whose own keys are poorer must encode them. Values are JSON, of up to some megabytes, and hold no NUL. {@link
 * #put} is atomic and durable once it returns. Thread-safe, and usable by several processes at once. The contract suite
 * in the testkit is {@code KeyValueStoreContract}.
 *
 * <p>Whatever goes wrong is thrown as {@link SaverException#failed}.
 */
public interface KeyValueStore extends AutoCloseable {
    Optional<String> get(String key);

    /** Creates the entry or replaces its value. */
    void put(String key, String value);

    /** Removes the entry. There need not be one. */
    void delete(String key);

    /** All keys that begin with this prefix, character by character, in any order. */
    List<String> list(String prefix);

    @Override
    default void close() {}
}
