package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Stores checkpoints in a key-value store, under {@code NAMESPACE/checkpoints/THREAD}, and their owners under
 * {@code NAMESPACE/owners/THREAD}. Closing the saver closes the store.
 *
 * <p>Entries are only replaced if they still have the value that was read. So a save that has checked its owner does
 * not replace a document that another thread saved after it took over.
 */
public final class KeyValueSaver implements CheckpointSaver {
    private final KeyValueStore store;
    private final String prefix;
    private final String ownerPrefix;

    public KeyValueSaver(KeyValueStore store) {
        this(store, Namespace.DEFAULT);
    }

    public KeyValueSaver(KeyValueStore store, Namespace namespace) {
        this.store = store;
        this.prefix = namespace.name() + "/checkpoints/";
        this.ownerPrefix = namespace.name() + "/owners/";
    }

    @Override
    public void save(Json checkpoint) {
        save(checkpoint, threadId -> {});
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        save(checkpoint, threadId -> updateOwner(threadId, stored -> owner.replacing(stored, threadId)));
    }

    /**
     * Reads the owner after the document: if another owner saves in between, the document has changed and is read
     * again.
     */
    private void save(Json checkpoint, Consumer<String> own) {
        String threadId = CheckpointText.threadId(checkpoint);
        String text = CheckpointText.write(checkpoint);
        String key = key(threadId);
        Optional<String> stored;
        do {
            stored = store.get(key);
            stored.ifPresent(old -> CheckpointText.read(old, threadId, key));
            own.accept(threadId);
        } while (!store.replace(key, stored, text));
    }

    private void updateOwner(String threadId, Function<Optional<CheckpointOwner>, CheckpointOwner> update) {
        String key = ownerKey(threadId);
        Optional<String> stored;
        String next;
        do {
            stored = store.get(key);
            CheckpointOwner owner = update.apply(stored.map(text -> CheckpointOwner.read(text, threadId, key)));
            next = CheckpointText.write(owner.json(threadId));
        } while (!stored.equals(Optional.of(next)) && !store.replace(key, stored, next));
    }

    @Override
    public Optional<CheckpointOwner> owner(String threadId) {
        String key = ownerKey(threadId);
        return store.get(key).map(text -> CheckpointOwner.read(text, threadId, key));
    }

    @Override
    public void handOver(String threadId, CheckpointOwner owner) {
        updateOwner(threadId, stored -> {
            owner.checkSuccession(stored, threadId);
            return owner;
        });
    }

    @Override
    public Optional<Json> load(String threadId) {
        String key = key(threadId);
        return store.get(key).map(text -> CheckpointText.read(text, threadId, key));
    }

    @Override
    public List<String> list() {
        return store.list(prefix).stream()
                .map(key -> key.substring(prefix.length()))
                .sorted()
                .toList();
    }

    @Override
    public void delete(String threadId) {
        store.delete(key(threadId));
        store.delete(ownerKey(threadId));
    }

    @Override
    public boolean exists(String threadId) {
        return store.get(key(threadId)).isPresent();
    }

    /** The key of the owner of the thread's checkpoint. */
    String ownerKey(String threadId) {
        return ownerPrefix + CheckpointText.checked(threadId);
    }

    /** The key of the thread's checkpoint. */
    String key(String threadId) {
        return prefix + CheckpointText.checked(threadId);
    }

    @Override
    public void close() {
        store.close();
    }
}
