package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Stores checkpoints in a SQLite or PostgreSQL database: as entries of a {@link JdbcStore}, which are loaded again, and
 * in the tables {@code sessions}, {@code checkpoints} and {@code tool_calls}, for people and other programs. A save
 * with a session writes both in one transaction; a save without one writes only the entry.
 *
 * <p>A save with a session adds a version if the conversation has changed, and never overwrites a version. Other
 * programs may delete rows of old versions.
 */
public final class JdbcSaver implements CheckpointSaver {
    private final JdbcStore store;
    private final Namespace namespace;
    private final KeyValueSaver entries;
    private final SessionTables tables;
    private volatile boolean hasTables;

    /** Connects on first use. */
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
        save(checkpoint, session, Optional.empty());
    }

    @Override
    public void save(Json checkpoint, Supplier<Json> session, CheckpointOwner owner) {
        save(checkpoint, session, Optional.of(owner));
    }

    private void save(Json checkpoint, Supplier<Json> session, Optional<CheckpointOwner> owner) {
        String threadId = CheckpointText.threadId(checkpoint);
        String key = entries.key(threadId);
        String text = CheckpointText.write(checkpoint);
        Json document = session.get();
        createTables();
        store.transaction("written", connection -> {
            if (owner.isPresent()) {
                own(connection, threadId, owner.get());
            }
            store.get(connection, key).ifPresent(old -> CheckpointText.read(old, threadId, key));
            store.put(connection, key, text);
            tables.write(connection, SessionTables.session(namespace, threadId), document);
            return true;
        });
    }

    /** Stores the owner in the transaction of the save: if two owners save the same entry at once, one is refused. */
    private void own(Connection connection, String threadId, CheckpointOwner owner) throws SQLException {
        String key = entries.ownerKey(threadId);
        Optional<String> stored;
        String next;
        do {
            stored = store.getForUpdate(connection, key);
            CheckpointOwner known =
                    owner.replacing(stored.map(text -> CheckpointOwner.read(text, threadId, key)), threadId);
            next = CheckpointText.write(known.json(threadId));
            // A missing entry cannot be locked, so another thread may have created it in the meantime.
        } while (!stored.equals(Optional.of(next)) && !store.replace(connection, key, stored, next));
    }

    @Override
    public Optional<CheckpointOwner> owner(String threadId) {
        return entries.owner(threadId);
    }

    @Override
    public void handOver(String threadId, CheckpointOwner owner) {
        entries.handOver(threadId, owner);
    }

    @Override
    public Optional<Json> load(String threadId) {
        return entries.load(threadId);
    }

    @Override
    public List<String> list() {
        return entries.list();
    }

    /** Also deletes all versions and the tool call log. */
    @Override
    public void delete(String threadId) {
        String key = entries.key(threadId);
        createTables();
        store.transaction("deleted", connection -> {
            store.delete(connection, key);
            store.delete(connection, entries.ownerKey(threadId));
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
