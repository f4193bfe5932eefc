package dev.waymark.saver;

import dev.waymark.conversation.value.Sha256;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Stores entries in a table of a SQLite or PostgreSQL database, which is created on first use. The driver must be on the
 * class path. The store recovers from outages of the database.
 *
 * <p>Keys are stored as {@link EscapedName}, because databases differ in how they treat NUL, case and
 * composed letters. They are indexed by their hash, because PostgreSQL's index entries are limited to 2,704 bytes.
 */
public final class JdbcStore implements KeyValueStore {
    private static final String COLUMNS = """
            key_hash CHAR(64) NOT NULL PRIMARY KEY,
            entry_key TEXT NOT NULL,
            entry_value TEXT NOT NULL
            """;

    private static final String SQLITE = "jdbc:sqlite:";
    private static final String POSTGRESQL = "jdbc:postgresql:";

    private static final String ENTRIES = "waymark_entries";
    private static final int SQLITE_BUSY_MILLIS = 30_000;

    private final String url;
    private final String table;
    private final JdbcConnections connections;
    private volatile boolean hasTable;

    /** Uses the table {@code waymark_entries}. Every operation uses a connection of its own. */
    public JdbcStore(String url) {
        this(supported(url), ENTRIES, JdbcConnections.each(url, properties(url)));
    }

    private JdbcStore(String url, String table, JdbcConnections connections) {
        this.url = url;
        this.table = table;
        this.connections = connections;
    }

    /**
     * Keeps one connection to a PostgreSQL database open, for entries that are read all the time, and gives up on a
     * database that does not answer in time.
     *
     * @param table a valid SQL name
     * @param limit in whole seconds, for connecting and for an answer
     */
    public static JdbcStore connected(String url, String table, Duration limit) {
        Properties properties = new Properties();
        for (String name : List.of("connectTimeout", "loginTimeout", "socketTimeout")) {
            properties.setProperty(name, String.valueOf(limit.toSeconds()));
        }
        return new JdbcStore(url, table, JdbcConnections.kept(url, properties));
    }

    /** Returns the URL if it belongs to a supported database, and throws a {@link SaverException} otherwise. */
    static String supported(String url) {
        if (!url.startsWith(SQLITE) && !url.startsWith(POSTGRESQL)) {
            throw SaverException.refused(
                    "unsupported database: " + shown(url), "Use jdbc:sqlite:FILE or jdbc:postgresql://HOST/DB");
        }
        if (isInMemory(url)) {
            throw SaverException.refused(
                    "an in-memory database can't be used: " + shown(url), "Name a file, or use memory:");
        }
        return url;
    }

    private static boolean isInMemory(String url) {
        String file = shown(url);
        return file.equals(SQLITE)
                || file.contains(":memory:")
                || (url.startsWith(SQLITE) && url.contains("mode=memory"));
    }

    /** The URL without user and parameters, which may include passwords. */
    public static String shown(String url) {
        return url.replaceFirst("[?].*", "").replaceFirst("//[^/@]*@", "//");
    }

    boolean isSqlite() {
        return url.startsWith(SQLITE);
    }

    @Override
    public Optional<String> get(String key) {
        return inTable("read", connection -> get(connection, key));
    }

    Optional<String> get(Connection connection, String key) throws SQLException {
        return get(connection, key, "");
    }

    /**
     * The value of a key. Locks the entry until the transaction ends; SQLite's transactions lock the whole database
     * anyway.
     */
    Optional<String> getForUpdate(Connection connection, String key) throws SQLException {
        return get(connection, key, isSqlite() ? "" : " FOR UPDATE");
    }

    private Optional<String> get(Connection connection, String key, String lock) throws SQLException {
        try (PreparedStatement select =
                connection.prepareStatement("SELECT entry_value FROM " + table + " WHERE key_hash = ?" + lock)) {
            select.setString(1, Sha256.hex(key));
            try (ResultSet rows = select.executeQuery()) {
                return rows.next() ? Optional.of(rows.getString(1)) : Optional.empty();
            }
        }
    }

    @Override
    public void put(String key, String value) {
        inTable("written", connection -> put(connection, key, value));
    }

    int put(Connection connection, String key, String value) throws SQLException {
        return insert(connection, key, value, "UPDATE SET entry_value = excluded.entry_value");
    }

    private int insert(Connection connection, String key, String value, String onConflict) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO " + table
                + " (key_hash, entry_key, entry_value) VALUES (?, ?, ?) ON CONFLICT (key_hash) DO " + onConflict)) {
            insert.setString(1, Sha256.hex(key));
            insert.setString(2, EscapedName.of(key));
            insert.setString(3, value);
            return insert.executeUpdate();
        }
    }

    @Override
    public boolean replace(String key, Optional<String> expected, String value) {
        int[] attempts = {0};
        return inTable("written", connection -> {
            // The first attempt may have been committed before its connection broke.
            boolean isRepeated = attempts[0]++ > 0;
            return replace(connection, key, expected, value)
                    || (isRepeated && get(connection, key).equals(Optional.of(value)));
        });
    }

    /**
     * Implements {@link #replace(String, Optional, String)}. In PostgreSQL, waits for a transaction that writes the
     * same entry.
     */
    boolean replace(Connection connection, String key, Optional<String> expected, String value) throws SQLException {
        if (expected.isEmpty()) {
            return insert(connection, key, value, "NOTHING") == 1;
        }
        try (PreparedStatement update = connection.prepareStatement(
                "UPDATE " + table + " SET entry_value = ? WHERE key_hash = ? AND entry_value = ?")) {
            update.setString(1, value);
            update.setString(2, Sha256.hex(key));
            update.setString(3, expected.get());
            return update.executeUpdate() == 1;
        }
    }

    @Override
    public void delete(String key) {
        inTable("deleted", connection -> delete(connection, key));
    }

    int delete(Connection connection, String key) throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement("DELETE FROM " + table + " WHERE key_hash = ?")) {
            delete.setString(1, Sha256.hex(key));
            return delete.executeUpdate();
        }
    }

    @Override
    public List<String> list(String prefix) {
        return List.copyOf(rows(prefix, "''").keySet());
    }

    @Override
    public SortedMap<String, String> entries(String prefix) {
        return rows(prefix, "entry_value");
    }

    private SortedMap<String, String> rows(String prefix, String value) {
        return inTable("listed", connection -> {
            try (PreparedStatement select = connection.prepareStatement(
                    "SELECT entry_key, " + value + " FROM " + table + " WHERE substr(entry_key, 1, ?) = ?")) {
                String plain = EscapedName.of(prefix);
                select.setInt(1, plain.length());
                select.setString(2, plain);
                try (ResultSet rows = select.executeQuery()) {
                    SortedMap<String, String> found = new TreeMap<>();
                    while (rows.next()) {
                        String name = rows.getString(1);
                        String key = EscapedName.read(name)
                                .orElseThrow(() -> SaverException.corrupt(shown(url), "not a valid key: " + name));
                        found.put(key, rows.getString(2));
                    }
                    return found;
                }
            }
        });
    }

    /** Runs the operation in a transaction on a connection of its own, and rolls back if the operation fails. */
    <T> T transaction(String done, JdbcConnections.Work<T> work) {
        return inTable(done, connection -> {
            connection.setAutoCommit(false);
            try {
                T result = work.in(connection);
                connection.commit();
                return result;
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            }
        });
    }

    /**
     * Runs the operation. Creates the table before the first one.
     *
     * @param done the operation as a participle for error messages, such as {@code written}
     */
    <T> T inTable(String done, JdbcConnections.Work<T> work) {
        if (!hasTable && isSqlite()) {
            createPrivateFile();
        }
        try {
            return connections.run(connection -> {
                if (!hasTable) {
                    JdbcTable.create(connection, table, COLUMNS);
                    hasTable = true;
                }
                return work.in(connection);
            });
        } catch (SQLException e) {
            throw SaverException.failed("the database can't be " + done, shown(url), e);
        }
    }

    /**
     * Creates SQLite's file and its missing directories. The driver does not create directories, and would create a
     * file that everybody can read. SQLite's other files get the same permissions.
     */
    private void createPrivateFile() {
        String file = shown(url).substring(SQLITE.length()).replaceFirst("^file:(//)?", "");
        try {
            Path directory = Path.of(file).toAbsolutePath().getParent();
            if (directory != null) {
                PrivateFiles.createDirectories(directory);
            }
        } catch (IOException | InvalidPathException e) {
            throw SaverException.failed("the database's directory can't be created", shown(url), e);
        }
        try {
            PrivateFiles.create(Path.of(file));
        } catch (IOException e) {
            // The driver reports the problem.
        }
    }

    /**
     * Waits up to 30 s for other writers of a SQLite database. By default, the driver gives up after 3 s, which is too
     * short for a few commits on a busy machine.
     */
    private static Properties properties(String url) {
        Properties properties = new Properties();
        if (url.startsWith(SQLITE)) {
            // A transaction that starts as a reader cannot wait for another writer once it writes.
            properties.setProperty("transaction_mode", "IMMEDIATE");
            properties.setProperty("busy_timeout", String.valueOf(SQLITE_BUSY_MILLIS));
        }
        return properties;
    }

    /** Releases the connection, if one is kept. The next operation opens another one. */
    @Override
    public void close() {
        connections.close();
    }
}
