package dev.waymark.codec;

import dev.waymark.saver.FileStore;
import dev.waymark.saver.JdbcStore;
import dev.waymark.saver.KeyValueStore;
import dev.waymark.saver.SaverException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The entries of threads' keys in a store. Thread-safe, and safe for concurrent use by several processes. Each change is
 * atomic, durable when its method returns, and made only if the entry is still the one that the caller has read.
 *
 * <p>All methods throw {@link KeyStoreException} if the storage does not answer or has an invalid entry.
 */
final class KeyStore implements AutoCloseable {
    private static final String FILE_PREFIX = "file:";
    private static final String POSTGRESQL_PREFIX = "jdbc:postgresql:";
    private static final String TABLE = "waymark_thread_keys";

    /** Workflow tasks wait for keys. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);

    private final KeyValueStore store;

    KeyStore(KeyValueStore store) {
        this.store = store;
    }

    /**
     * The keys in {@code file:DIRECTORY}, which must exist, or {@code jdbc:postgresql:…}. Connects on first use. Empty
     * if there is no such kind of place.
     */
    static Optional<KeyStore> at(String place) {
        if (place.startsWith(POSTGRESQL_PREFIX)) {
            return Optional.of(new KeyStore(JdbcStore.connected(place, TABLE, LONGEST_WAIT)));
        }
        if (!place.startsWith(FILE_PREFIX) || place.length() == FILE_PREFIX.length()) {
            return Optional.empty();
        }
        try {
            Path directory = Path.of(place.substring(FILE_PREFIX.length()));
            return Optional.of(new KeyStore(FileStore.erasingIn(directory, ".json")));
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    /** The entry with this id; empty if there is none. */
    Optional<ThreadKeyEntry> find(String id) {
        return answered(() -> store.get(id)).map(text -> entry(id, text));
    }

    /** Stores an entry unless one with its id exists. Returns whether it was stored. */
    boolean create(ThreadKeyEntry entry) {
        return answered(() -> store.replace(entry.id(), Optional.empty(), text(entry)));
    }

    /** Replaces the entry with the same id if it equals {@code known}. Returns whether it was replaced. */
    boolean replace(ThreadKeyEntry known, ThreadKeyEntry entry) {
        // People may have indented the entry.
        Optional<String> stored = answered(() -> store.get(known.id()));
        return stored.isPresent()
                && entry(known.id(), stored.get()).equals(known)
                && answered(() -> store.replace(known.id(), stored, text(entry)));
    }

    /** All entries, in the order of their ids. */
    List<ThreadKeyEntry> all() {
        return answered(() -> store.entries("")).entrySet().stream()
                .map(each -> entry(each.getKey(), each.getValue()))
                .toList();
    }

    private ThreadKeyEntry entry(String id, String text) {
        return ThreadKeyEntry.parse(text, store.place(id));
    }

    private static String text(ThreadKeyEntry entry) {
        return entry.text() + "\n";
    }

    private static <T> T answered(Supplier<T> question) {
        try {
            return question.get();
        } catch (SaverException e) {
            throw new KeyStoreException("the keys of threads are not available: " + e.getMessage(), e);
        }
    }

    /** Releases connections. The next operation opens them again. */
    @Override
    public void close() {
        store.close();
    }
}
