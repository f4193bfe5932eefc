package dev.waymark.codec;

import java.util.List;
import java.util.Optional;

/**
 * Stores one entry for each thread. Thread-safe, and safe for concurrent use by several processes. Each change is
 * atomic, durable when its method returns, and made only if the entry is still the one that the caller has read.
 *
 * <p>All methods throw {@link KeyStoreException} if the storage does not answer or has an invalid entry.
 */
public interface KeyStore extends AutoCloseable {
    /** The entry with this id; empty if there is none. */
    Optional<ThreadKeyEntry> find(String id);

    /** Stores an entry unless one with its id exists. Returns whether it was stored. */
    boolean create(ThreadKeyEntry entry);

    /** Replaces the entry with the same id if it equals {@code known}. Returns whether it was replaced. */
    boolean replace(ThreadKeyEntry known, ThreadKeyEntry entry);

    /** All entries, in the order of their ids. */
    List<ThreadKeyEntry> all();

    /** Releases connections. The next operation opens them again. */
    @Override
    default void close() {}
}
