package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Stores checkpoints in a key-value store, under {@code NAMESPACE/checkpoints/THREAD}, and their owners under
 * {@code NAMESPACE/owners/THREAD}, or {@linkplain #inFiles in files}. Closing the saver closes the store.
 *
 * <p>Entries are only replaced if they still have the value that was read. So a save that has checked its owner does
 * not replace a document that another thread saved after it took over.
 */
public final class KeyValueSaver implements CheckpointSaver {
    private final KeyValueStore store;
    private final KeyValueStore owners;
    private final String prefix;
    private final String ownerPrefix;
    private final boolean isIndented;

    public KeyValueSaver(KeyValueStore store) {
        this(store, Namespace.DEFAULT);
    }

    public KeyValueSaver(KeyValueStore store, Namespace namespace) {
        this(store, store, namespace.name() + "/checkpoints/", namespace.name() + "/owners/", false);
    }

    private KeyValueSaver(
            KeyValueStore store, KeyValueStore owners, String prefix, String ownerPrefix, boolean isIndented) {
        this.store = store;
        this.owners = owners;
        this.prefix = prefix;
        this.ownerPrefix = ownerPrefix;
        this.isIndented = isIndented;
    }

    /**
     * Stores checkpoints as {@code THREAD.json} in this directory, indented so that people can read them, and their
     * owners as {@code THREAD.owner}. A namespace is a subdirectory; the default namespace is the directory itself. The
     * first save creates the directory.
     */
    public static KeyValueSaver inFiles(Path directory, Namespace namespace) {
        Path place =
                namespace.equals(Namespace.DEFAULT) ? directory : directory.resolve(EscapedName.of(namespace.name()));
        return new KeyValueSaver(FileStore.in(place, ".json"), FileStore.in(place, ".owner"), "", "", true);
    }

    @Override
    public void save(Json checkpoint) {
        save(checkpoint, threadId -> {});
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        store.exclusively(() -> {
            save(checkpoint, threadId -> updateOwner(threadId, stored -> owner.replacing(stored, threadId)));
            return true;
        });
    }

    /**
     * Reads the owner after the document: if another owner saves in between, the document has changed and is read
     * again.
     */
    private void save(Json checkpoint, Consumer<String> own) {
        String threadId = CheckpointText.threadId(checkpoint);
        String text = text(checkpoint);
        String key = key(threadId);
        Optional<String> stored;
        do {
            stored = store.get(key);
            stored.ifPresent(old -> CheckpointText.read(old, threadId, store.place(key)));
            own.accept(threadId);
        } while (!store.replace(key, stored, text));
    }

    private String text(Json document) {
        return isIndented ? CheckpointText.writeIndented(document) + "\n" : CheckpointText.write(document);
    }

    private void updateOwner(String threadId, Function<Optional<CheckpointOwner>, CheckpointOwner> update) {
        String key = ownerKey(threadId);
        Optional<String> stored;
        String next;
        do {
            stored = owners.get(key);
            CheckpointOwner owner =
                    update.apply(stored.map(text -> CheckpointOwner.read(text, threadId, owners.place(key))));
            next = text(owner.json(threadId));
        } while (!stored.equals(Optional.of(next)) && !owners.replace(key, stored, next));
    }

    @Override
    public Optional<CheckpointOwner> owner(String threadId) {
        String key = ownerKey(threadId);
        return owners.get(key).map(text -> CheckpointOwner.read(text, threadId, owners.place(key)));
    }

    @Override
    public void handOver(String threadId, CheckpointOwner owner) {
        store.exclusively(() -> {
            updateOwner(threadId, stored -> {
                owner.checkSuccession(stored, threadId);
                return owner;
            });
            return true;
        });
    }

    @Override
    public Optional<Json> load(String threadId) {
        String key = key(threadId);
        return store.get(key).map(text -> CheckpointText.read(text, threadId, store.place(key)));
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
        owners.delete(ownerKey(threadId));
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
