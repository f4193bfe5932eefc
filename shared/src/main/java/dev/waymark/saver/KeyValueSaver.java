package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;

/** Keeps checkpoints in a store, each under {@code NAMESPACE/checkpoints/THREAD}. It closes the store with itself. */
public final class KeyValueSaver implements CheckpointSaver {
    private final KeyValueStore store;
    private final String prefix;

    public KeyValueSaver(KeyValueStore store) {
        this(store, Namespace.DEFAULT);
    }

    public KeyValueSaver(KeyValueStore store, Namespace namespace) {
        this.store = store;
        this.prefix = namespace.name() + "/checkpoints/";
    }

    @Override
    public void save(Json checkpoint) {
        String threadId = CheckpointText.threadId(checkpoint);
        String text = CheckpointText.write(checkpoint);
        load(threadId);
        store.put(key(threadId), text);
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
    }

    @Override
    public boolean exists(String threadId) {
        return store.get(key(threadId)).isPresent();
    }

    /** Under which the store has the thread's checkpoint. */
    String key(String threadId) {
        return prefix + CheckpointText.checked(threadId);
    }

    @Override
    public void close() {
        store.close();
    }
}
