package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Stores checkpoints in a key-value store, under {@code NAMESPACE/checkpoints/THREAD}. Closing it closes the store. */
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
        String threadId = CheckpointText.threadId(checkpoint);
        String text = CheckpointText.write(checkpoint);
        load(threadId);
        store.put(key(threadId), text);
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        String threadId = CheckpointText.threadId(checkpoint);
        Optional<CheckpointOwner> stored = owner(threadId);
        CheckpointOwner next = owner.replacing(stored, threadId);
        if (!stored.equals(Optional.of(next))) {
            handOver(threadId, next);
        }
        save(checkpoint);
    }

    @Override
    public Optional<CheckpointOwner> owner(String threadId) {
        String key = ownerKey(threadId);
        return store.get(key).map(text -> CheckpointOwner.read(text, threadId, key));
    }

    @Override
    public void handOver(String threadId, CheckpointOwner owner) {
        store.put(ownerKey(threadId), CheckpointText.write(owner.json(threadId)));
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
