package dev.waymark.codec;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import javax.crypto.SecretKey;

/**
 * The keys of single threads. A thread that is started with thread keys configured gets a key of its own, which
 * encrypts its payloads and those of its subagents. The key is stored outside of history, wrapped by a master key.
 * After the key is destroyed, nobody can read the thread, not even from copies of its history. Thread-safe.
 *
 * <p>Keys are created when threads start, and never while they run: threads that were started without one have none,
 * and a worker cannot bring back a key that was destroyed.
 *
 * <p>A key is cached for one minute, and for up to ten minutes while the storage does not answer. Other processes may
 * therefore read a thread for that long after its key was destroyed.
 */
public final class ThreadKeys implements AutoCloseable {
    /** The environment variable with the place of the keys: {@code file:DIRECTORY} or {@code jdbc:postgresql:…}. */
    public static final String VARIABLE = "WAYMARK_THREAD_KEYS";

    /** How long a key is used before it is read again. */
    static final Duration FRESH = Duration.ofMinutes(1);

    /** How long a key is used if the storage does not answer. */
    static final Duration LONGEST = Duration.ofMinutes(10);

    private static final String NOT_FOR_NEW_THREADS = "[?&]new=no$";
    private static final String ID_PREFIX = "thread:";
    private static final Duration PAUSE = Duration.ofSeconds(2);
    /** For how long the storage is not queried again after it has failed, if the key is in memory. */
    private static final Duration PAUSE_WITH_KEY = Duration.ofSeconds(10);
    /** How long a caller waits for queries of other callers before it uses the key in memory. */
    private static final Duration PATIENCE_WITH_KEY = Duration.ofMillis(500);

    private static final int MOST_CACHED = 10_000;

    private final EncryptionKeys masterKeys;
    private final KeyStore store;
    private final boolean createsKeys;
    private final LongSupplier nanoTime;
    /** Entries with keys, by id. A missing entry is never cached, since a thread may start at any time. */
    private final Map<String, StoredKey> cache = new ConcurrentHashMap<>();
    /** The entry whose key a thread uses, by entry id, for each subagent's thread without its own key. */
    private final Map<String, Above> above = new ConcurrentHashMap<>();

    /**
     * Held while the storage is queried. Workflow tasks and heartbeats wait for keys. If the storage does not answer,
     * they wait for one attempt in total, not for one attempt per thread.
     */
    private final ReentrantLock asking = new ReentrantLock();

    private volatile Optional<Outage> outage = Optional.empty();

    /** An entry as it was read, and its key in plain form. */
    private record StoredKey(ThreadKeyEntry entry, Optional<SecretKey> secret, long readAt) {}

    /** The id of the entry of the nearest thread above that has one. */
    private record Above(String id, long readAt) {}

    /**
     * A failure of the storage. The storage is not queried again for a moment, because each attempt may take seconds.
     */
    private record Outage(KeyStoreException failure, long since) {}

    ThreadKeys(EncryptionKeys masterKeys, KeyStore store, boolean createsKeys, LongSupplier nanoTime) {
        this.masterKeys = masterKeys;
        this.store = store;
        this.createsKeys = createsKeys;
        this.nanoTime = nanoTime;
    }

    /**
     * The keys in the storage that the environment variable {@code WAYMARK_THREAD_KEYS} names, or empty if it is not
     * set or blank. Does not connect to the storage.
     *
     * @throws KeyProblem if the variable does not name a storage, or if there are no master keys
     */
    public static Optional<ThreadKeys> of(Map<String, String> environment, Optional<EncryptionKeys> masterKeys) {
        Optional<String> setting = Optional.ofNullable(environment.get(VARIABLE))
                .map(String::strip)
                .filter(text -> !text.isEmpty());
        if (setting.isPresent() && masterKeys.isEmpty()) {
            throw new KeyProblem(VARIABLE + " is set, and " + EncryptionKeys.VARIABLE
                    + " is not: its keys encrypt those of threads");
        }
        return setting.map(text -> {
            String place = text.replaceFirst(NOT_FOR_NEW_THREADS, "");
            // The value is not shown, since a URL may contain a password.
            KeyStore store = KeyStore.at(place)
                    .orElseThrow(() -> new KeyProblem(
                            VARIABLE + " has an invalid value. Use file:DIRECTORY or jdbc:postgresql://HOST/DATABASE"));
            return new ThreadKeys(masterKeys.orElseThrow(), store, place.equals(text), System::nanoTime);
        });
    }

    /** Whether this is the id of a thread's key. Master keys cannot have such an id. */
    static boolean isIdOfThread(String keyId) {
        return keyId.startsWith(ID_PREFIX);
    }

    /**
     * Creates a key for a thread that is about to start, unless its name already has one. Processes that start the
     * thread at the same time get the same key. If the name's last key was destroyed, the new thread gets another key.
     * With {@code new=no} in the setting, a name that never had a key gets none.
     *
     * @param copiedFrom the thread whose conversation the new thread starts with
     */
    public void begin(String namespace, String thread, Optional<String> copiedFrom) {
        String id = ThreadKeyEntry.id(namespace, thread);
        refresh(namespace, thread);
        while (true) {
            Optional<ThreadKeyEntry> known = store.find(id);
            boolean hasKey = known.flatMap(ThreadKeyEntry::key).isPresent();
            if (hasKey || (known.isEmpty() && !createsKeys)) {
                return;
            }
            Instant now = now();
            int number = known.map(ThreadKeyEntry::number).orElse(0) + 1;
            ThreadKeyEntry.WrappedKey key =
                    masterKeys.wrap(EncryptionKeys.randomKey(), boundTo(namespace, thread, number));
            boolean done = known.isPresent()
                    ? store.replace(known.get(), known.get().begunAnew(now, key, copiedFrom))
                    : store.create(new ThreadKeyEntry(namespace, thread, now, Optional.of(key), copiedFrom, List.of()));
            if (done) {
                return;
            }
        }
    }

    /**
     * Drops what is cached for this thread, so that its key is read again. Other processes may have changed the key.
     */
    public void refresh(String namespace, String thread) {
        cache.remove(ThreadKeyEntry.id(namespace, thread));
        above.remove(ThreadKeyEntry.id(namespace, thread));
    }

    /**
     * The id of the thread whose key this thread uses: its own id, or the id of the nearest ancestor that has or had a
     * key. Empty if none of them ever had one.
     */
    public Optional<String> owner(String namespace, String thread) {
        refresh(namespace, thread);
        return nearest(namespace, thread).map(known -> known.entry().thread());
    }

    /** When a key was destroyed, and whether that had happened before this request. */
    public record DestroyedKey(Instant at, boolean again) {}

    /** Destroys the key of a thread, unless it was destroyed before. Empty if the thread never had a key of its own. */
    public Optional<DestroyedKey> forget(String namespace, String thread) {
        String id = ThreadKeyEntry.id(namespace, thread);
        while (true) {
            Optional<ThreadKeyEntry> known = store.find(id);
            if (known.isEmpty()) {
                return Optional.empty();
            }
            List<Instant> earlier = known.get().forgotten();
            if (known.get().key().isEmpty()) {
                cache.remove(id); // Another process may have destroyed the key since this one read it.
                return Optional.of(new DestroyedKey(earlier.get(earlier.size() - 1), true));
            }
            Instant now = now();
            try {
                if (store.replace(known.get(), known.get().withoutKey(now))) {
                    return Optional.of(new DestroyedKey(now, false));
                }
            } finally {
                cache.remove(id); // After a failure, the key may be destroyed too.
            }
        }
    }

    /**
     * The names of the threads that started with a copy of this thread's conversation and can still be read, sorted.
     */
    public List<String> copies(String namespace, String thread) {
        return store.all().stream()
                .filter(entry -> entry.namespace().equals(namespace)
                        && entry.copiedFrom().equals(Optional.of(thread))
                        && entry.key().isPresent())
                .map(ThreadKeyEntry::thread)
                .sorted()
                .toList();
    }

    /** How many keys were wrapped again, and how many keys there are. */
    public record Rewrapped(int changed, int all) {}

    /** Wraps all keys with the current master key. After that, keys of threads need no earlier master key. */
    public Rewrapped rewrap() {
        int changed = 0;
        int all = 0;
        for (ThreadKeyEntry listed : store.all()) {
            Optional<ThreadKeyEntry> known = Optional.of(listed);
            while (known.flatMap(ThreadKeyEntry::key)
                    .filter(key -> !key.masterKey().equals(masterKeys.currentId()))
                    .isPresent()) {
                ThreadKeyEntry entry = known.get();
                SecretKey key = secret(entry, entry.key().orElseThrow());
                if (store.replace(entry, entry.rewrapped(masterKeys.wrap(key, boundTo(entry))))) {
                    changed++;
                    break;
                }
                known = store.find(entry.id());
            }
            all += listed.key().isPresent() ? 1 : 0;
        }
        return new Rewrapped(changed, all);
    }

    /**
     * The key that encrypts payloads of this thread. Empty if neither the thread nor a thread above it ever had a key.
     *
     * @throws ThreadForgottenException if it was destroyed
     */
    Optional<DataKey> encrypting(String namespace, String thread) {
        return nearest(namespace, thread).map(known -> {
            int number = known.entry().number();
            return new DataKey(ID_PREFIX + known.entry().id() + ":" + number, secret(known, number));
        });
    }

    /**
     * The key with this id. Empty if the storage does not know the key.
     *
     * @throws ThreadForgottenException if it was destroyed
     */
    Optional<SecretKey> decrypting(String keyId) {
        String[] parts = keyId.substring(ID_PREFIX.length()).split(":", 2);
        if (parts.length != 2 || !parts[1].matches("[1-9][0-9]{0,8}")) {
            return Optional.empty();
        }
        int number = Integer.parseInt(parts[1]);
        Optional<StoredKey> known = known(parts[0]);
        if (known.filter(read -> read.entry().number() < number).isPresent()) {
            // A later thread has started with this name, so the cached entry is outdated.
            cache.remove(parts[0]);
            known = known(parts[0]);
        }
        return known.filter(read -> read.entry().number() >= number).map(read -> secret(read, number));
    }

    private static SecretKey secret(StoredKey known, int number) {
        ThreadKeyEntry entry = known.entry();
        if (number < entry.number() || known.secret().isEmpty()) {
            throw new ThreadForgottenException(entry.thread(), entry.forgotten().get(number - 1));
        }
        return known.secret().get();
    }

    /** The entry of this thread, or else of the nearest thread above it. A subagent's thread is below its parent's. */
    private Optional<StoredKey> nearest(String namespace, String thread) {
        String own = ThreadKeyEntry.id(namespace, thread);
        Above known = above.get(own);
        if (known != null && age(known.readAt()) < FRESH.toNanos()) {
            return known(known.id());
        }
        try {
            String name = thread;
            Optional<StoredKey> found = known(own);
            while (found.isEmpty() && name.contains("/")) {
                name = name.substring(0, name.lastIndexOf('/'));
                found = known(ThreadKeyEntry.id(namespace, name));
            }
            found.filter(read -> !read.entry().id().equals(own)).ifPresent(read -> {
                keepSmall(above);
                above.put(own, new Above(read.entry().id(), nanoTime.getAsLong()));
            });
            return found;
        } catch (KeyStoreException e) {
            if (known != null && age(known.readAt()) < LONGEST.toNanos()) {
                return known(known.id());
            }
            throw e;
        }
    }

    private Optional<StoredKey> known(String id) {
        StoredKey cached = cache.get(id);
        if (cached != null && age(cached.readAt()) < FRESH.toNanos()) {
            return Optional.of(cached);
        }
        Optional<StoredKey> usable = Optional.ofNullable(cached).filter(read -> age(read.readAt()) < LONGEST.toNanos());
        if (usable.isEmpty()) {
            cache.remove(id);
            asking.lock();
        } else if (!isMyTurnToAsk()) {
            return usable;
        }
        try {
            return asked(id, usable.isEmpty() ? PAUSE : PAUSE_WITH_KEY);
        } catch (KeyStoreException e) {
            if (usable.isPresent()) {
                return usable;
            }
            throw e;
        } finally {
            asking.unlock();
        }
    }

    private boolean isMyTurnToAsk() {
        try {
            return asking.tryLock(PATIENCE_WITH_KEY.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Queries the storage and caches the answer. The caller holds the lock. */
    private Optional<StoredKey> asked(String id, Duration pause) {
        Optional<StoredKey> read = find(id, pause)
                .map(entry -> new StoredKey(entry, entry.key().map(key -> secret(entry, key)), nanoTime.getAsLong()));
        read.filter(entry -> entry.secret().isPresent())
                .ifPresentOrElse(
                        entry -> {
                            keepSmall(cache);
                            cache.put(id, entry);
                        },
                        () -> cache.remove(id));
        return read;
    }

    /** Queries the storage. If it failed within the pause, throws that failure again without a query. */
    private Optional<ThreadKeyEntry> find(String id, Duration pause) {
        Optional<Outage> known = outage;
        if (known.isPresent() && age(known.get().since()) < pause.toNanos()) {
            throw known.get().failure();
        }
        try {
            Optional<ThreadKeyEntry> found = store.find(id);
            outage = Optional.empty();
            return found;
        } catch (KeyStoreException e) {
            outage = Optional.of(new Outage(e, nanoTime.getAsLong()));
            throw e;
        }
    }

    private long age(long since) {
        return nanoTime.getAsLong() - since;
    }

    private static void keepSmall(Map<String, ?> map) {
        if (map.size() >= MOST_CACHED) {
            map.clear();
        }
    }

    private SecretKey secret(ThreadKeyEntry entry, ThreadKeyEntry.WrappedKey key) {
        return masterKeys.unwrap(key, boundTo(entry), "the key of thread " + entry.thread());
    }

    /** Releases the connection to the storage. */
    @Override
    public void close() {
        store.close();
    }

    private static String boundTo(ThreadKeyEntry entry) {
        return boundTo(entry.namespace(), entry.thread(), entry.number());
    }

    private static String boundTo(String namespace, String thread, int number) {
        return namespace + '\0' + thread + '\0' + number;
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS);
    }
}
