package dev.waymark.codec;

import dev.waymark.saver.JdbcStore;
import dev.waymark.saver.JdbcTable;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Stores entries in the table {@code waymark_thread_keys} of a PostgreSQL database. The driver must be on the class
 * path.
 *
 * <p>Keeps one connection open, and opens another one after a failure. Gives up on a database that does not answer
 * within 3 seconds, since workflow tasks wait for it.
 */
public final class PostgresKeyStore implements KeyStore {
    private static final String COLUMNS = """
            id CHAR(32) NOT NULL PRIMARY KEY,
            entry TEXT NOT NULL
            """;

    private static final int SECONDS = 3;

    private final String url;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Connection open;

    /** Connects on first use. */
    public PostgresKeyStore(String url) {
        this.url = url;
    }

    @Override
    public Optional<ThreadKeyEntry> find(String id) {
        return connected("read", connection -> find(connection, id));
    }

    private Optional<ThreadKeyEntry> find(Connection connection, String id) throws SQLException {
        try (PreparedStatement select =
                connection.prepareStatement("SELECT entry FROM waymark_thread_keys WHERE id = ?")) {
            select.setString(1, id);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? Optional.of(entry(rows)) : Optional.empty();
            }
        }
    }

    @Override
    public boolean create(ThreadKeyEntry entry) {
        return changed(
                connection -> {
                    try (PreparedStatement insert = connection.prepareStatement(
                            "INSERT INTO waymark_thread_keys (id, entry) VALUES (?, ?) ON CONFLICT (id) DO NOTHING")) {
                        insert.setString(1, entry.id());
                        insert.setString(2, entry.text());
                        return insert.executeUpdate() == 1;
                    }
                },
                entry);
    }

    @Override
    public boolean replace(ThreadKeyEntry known, ThreadKeyEntry entry) {
        return changed(
                connection -> {
                    try (PreparedStatement update = connection.prepareStatement(
                            "UPDATE waymark_thread_keys SET entry = ? WHERE id = ? AND entry = ?")) {
                        update.setString(1, entry.text());
                        update.setString(2, known.id());
                        update.setString(3, known.text());
                        return update.executeUpdate() == 1;
                    }
                },
                entry);
    }

    @Override
    public List<ThreadKeyEntry> all() {
        return connected("listed", connection -> {
            try (PreparedStatement select =
                            connection.prepareStatement("SELECT entry FROM waymark_thread_keys ORDER BY id");
                    ResultSet rows = select.executeQuery()) {
                List<ThreadKeyEntry> entries = new ArrayList<>();
                while (rows.next()) {
                    entries.add(entry(rows));
                }
                return entries;
            }
        });
    }

    private ThreadKeyEntry entry(ResultSet row) throws SQLException {
        return ThreadKeyEntry.parse(row.getString(1), JdbcStore.shown(url));
    }

    /**
     * Makes a change and returns whether it was made. If it is repeated because the connection broke, the first attempt
     * may have been committed, and the second one then changes nothing. The stored entry shows whether that happened:
     * it contains a random key or the time at which the key was destroyed, so it equals this entry only if an attempt
     * stored it, or if another process made the same change within the same second.
     */
    private boolean changed(Work<Boolean> change, ThreadKeyEntry entry) {
        int[] attempts = {0};
        return connected("stored", connection -> {
            boolean isRepeated = attempts[0]++ > 0;
            return change.in(connection)
                    || (isRepeated && find(connection, entry.id()).equals(Optional.of(entry)));
        });
    }

    private interface Work<T> {
        T in(Connection connection) throws SQLException;
    }

    /**
     * Repeats the work once if it fails on a connection that was used before, since that connection may be lost. The
     * first attempt may have taken effect. A timeout is not followed by a second attempt: the caller would wait twice as long.
     */
    private <T> T connected(String done, Work<T> work) {
        lock.lock();
        try {
            boolean isOld = open != null;
            try {
                return attempt(work);
            } catch (SQLException e) {
                disconnect();
                if (!isOld || e.getCause() instanceof SocketTimeoutException) {
                    throw e;
                }
            }
            return attempt(work);
        } catch (SQLException e) {
            disconnect();
            throw KeyStoreException.of("the keys of threads can't be " + done, JdbcStore.shown(url), e);
        } finally {
            lock.unlock();
        }
    }

    private <T> T attempt(Work<T> work) throws SQLException {
        Connection connection = open;
        if (connection == null) {
            connection = connect();
            open = connection;
        }
        return work.in(connection);
    }

    @Override
    public void close() {
        lock.lock();
        try {
            disconnect();
        } finally {
            lock.unlock();
        }
    }

    private void disconnect() {
        if (open != null) {
            try {
                open.close();
            } catch (SQLException e) {
                // The connection is discarded in any case.
            }
            open = null;
        }
    }

    private Connection connect() throws SQLException {
        Properties properties = new Properties();
        for (String limit : List.of("connectTimeout", "loginTimeout", "socketTimeout")) {
            properties.setProperty(limit, String.valueOf(SECONDS));
        }
        // DriverManager.getConnection would put the whole URL, including the password, into its message.
        Connection connection = DriverManager.getDriver(url).connect(url, properties);
        try {
            JdbcTable.create(connection, "waymark_thread_keys", COLUMNS);
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }
}
