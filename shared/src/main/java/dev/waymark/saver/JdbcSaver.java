package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Keeps checkpoints in a SQLite or PostgreSQL database: as entries of a {@link JdbcStore}, which are what is loaded, and
 * in the tables {@code sessions}, {@code checkpoints} and {@code tool_calls}, for people and other programs to read. A
 * save does both or neither.
 *
 * <p>Each save with a session adds a version, and none is ever overwritten. Rows of old versions may be deleted.
 */
public final class JdbcSaver implements CheckpointSaver {
    private final JdbcStore store;
    private final Namespace namespace;
    private final KeyValueSaver entries;
    private final SessionTables tables;
    private volatile boolean hasTables;

    /** Connects when it is first used. */
    public JdbcSaver(String url, Namespace namespace) {
        this.store = new JdbcStore(url);
        this.namespace = namespace;
        this.entries = new KeyValueSaver(store, namespace);
        this.tables = new SessionTables(!store.isSqlite());
    }

    @Override
    public void save(Json checkpoint) {
        entries.save(checkpoint);
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session) {
        String threadId = CheckpointText.threadId(checkpoint);
        String key = entries.key(threadId);
        String text = CheckpointText.write(checkpoint);
        Json document = session.get();
        createTables();
        store.transaction("written", connection -> {
            JdbcStore.get(connection, key).ifPresent(old -> CheckpointText.read(old, threadId, key));
            JdbcStore.put(connection, key, text);
            tables.write(connection, SessionTables.session(namespace, threadId), document);
            return true;
        });
    }

    @Override
    public Optional<Json> load(String threadId) {
        return entries.load(threadId);
    }

    @Override
    public List<String> list() {
        return entries.list();
    }

    /** Removes all versions and the log of tool calls as well. */
    @Override
    public void delete(String threadId) {
        String key = entries.key(threadId);
        createTables();
        store.transaction("deleted", connection -> {
            JdbcStore.delete(connection, key);
            tables.delete(connection, SessionTables.session(namespace, threadId));
            return true;
        });
    }

    @Override
    public boolean exists(String threadId) {
        return entries.exists(threadId);
    }

    private void createTables() {
        if (!hasTables) {
            store.inTable("written", connection -> {
                tables.create(connection);
                return true;
            });
            hasTables = true;
        }
    }
}
