package dev.waymark.saver;

import dev.waymark.conversation.value.Sha256;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;

/**
 * Stores entries in a table of a SQLite or PostgreSQL database, {@code waymark_entries}, which is created on first use.
 * The driver must be on the class path.
 *
 * <p>Every operation uses a connection of its own, so the store recovers from outages of the database, and there is
 * nothing to close. Keys are stored as {@link EscapedName}, because databases differ in how they treat NUL, case and
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

    private static final int SQLITE_BUSY_MILLIS = 30_000;

    private final String url;
    private volatile boolean hasTable;

    /** Connects on first use. */
    public JdbcStore(String url) {
        this.url = supported(url);
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

    static Optional<String> get(Connection connection, String key) throws SQLException {
        return get(connection, key, "");
    }

    /**
     * The value of a key. Locks the entry until the transaction ends; SQLite's transactions lock the whole database
     * anyway.
     */
    Optional<String> getForUpdate(Connection connection, String key) throws SQLException {
        return get(connection, key, isSqlite() ? "" : " FOR UPDATE");
    }

    private static Optional<String> get(Connection connection, String key, String lock) throws SQLException {
        try (PreparedStatement select =
                connection.prepareStatement("SELECT entry_value FROM waymark_entries WHERE key_hash = ?" + lock)) {
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

    static int put(Connection connection, String key, String value) throws SQLException {
        return insert(connection, key, value, "UPDATE SET entry_value = excluded.entry_value");
    }

    private static int insert(Connection connection, String key, String value, String onConflict) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("""
                INSERT INTO waymark_entries (key_hash, entry_key, entry_value)
                VALUES (?, ?, ?)
                ON CONFLICT (key_hash) DO\s""" + onConflict)) {
            insert.setString(1, Sha256.hex(key));
            insert.setString(2, EscapedName.of(key));
            insert.setString(3, value);
            return insert.executeUpdate();
        }
    }

    @Override
    public boolean replace(String key, Optional<String> expected, String value) {
        return inTable("written", connection -> replace(connection, key, expected, value));
    }

    /**
     * Implements {@link #replace(String, Optional, String)}. In PostgreSQL, waits for a transaction that writes the
     * same entry.
     */
    static boolean replace(Connection connection, String key, Optional<String> expected, String value)
            throws SQLException {
        if (expected.isEmpty()) {
            return insert(connection, key, value, "NOTHING") == 1;
        }
        try (PreparedStatement update = connection.prepareStatement(
                "UPDATE waymark_entries SET entry_value = ? WHERE key_hash = ? AND entry_value = ?")) {
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

    static int delete(Connection connection, String key) throws SQLException {
        try (PreparedStatement delete = connection.prepareStatement("DELETE FROM waymark_entries WHERE key_hash = ?")) {
            delete.setString(1, Sha256.hex(key));
            return delete.executeUpdate();
        }
    }

    @Override
    public List<String> list(String prefix) {
        return inTable("listed", connection -> {
            try (PreparedStatement select = connection.prepareStatement(
                    "SELECT entry_key FROM waymark_entries WHERE substr(entry_key, 1, ?) = ?")) {
                String plain = EscapedName.of(prefix);
                select.setInt(1, plain.length());
                select.setString(2, plain);
                try (ResultSet rows = select.executeQuery()) {
                    List<String> keys = new ArrayList<>();
                    while (rows.next()) {
                        String name = rows.getString(1);
                        keys.add(EscapedName.read(name)
                                .orElseThrow(() -> SaverException.corrupt(shown(url), "not a valid key: " + name)));
                    }
                    return keys;
                }
            }
        });
    }

    interface Work<T> {
        T in(Connection connection) throws SQLException;
    }

    /** Runs the operation in a transaction on a connection of its own, and rolls back if the operation fails. */
    <T> T transaction(String done, Work<T> work) {
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
     * Runs the operation on a connection of its own. Creates the table before the first one.
     *
     * @param done the operation as a participle for error messages, such as {@code written}
     */
    <T> T inTable(String done, Work<T> work) {
        if (!hasTable && isSqlite()) {
            createPrivateFile();
        }
        try (Connection connection = connect()) {
            if (!hasTable) {
                JdbcTable.create(connection, "waymark_entries", COLUMNS);
                hasTable = true;
            }
            return work.in(connection);
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
     * Opens a connection that waits up to 30 s for other writers of a SQLite database. By default, the driver gives up
     * after 3 s, which is too short for a few commits on a busy machine.
     */
    private Connection connect() throws SQLException {
        Properties properties = new Properties();
        if (isSqlite()) {
            // A transaction that starts as a reader cannot wait for another writer once it writes.
            properties.setProperty("transaction_mode", "IMMEDIATE");
            properties.setProperty("busy_timeout", String.valueOf(SQLITE_BUSY_MILLIS));
        }
        // DriverManager.getConnection would put the whole URL, including the password, into its message.
        return DriverManager.getDriver(url).connect(url, properties);
    }
}
