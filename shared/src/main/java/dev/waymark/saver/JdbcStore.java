package dev.waymark.saver;

import dev.waymark.conversation.value.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;

/**
 * Keeps entries in a table of a SQLite or PostgreSQL database, {@code waymark_entries}, which it creates on first use.
 * The driver has to be on the class path.
 *
 * <p>Every operation has a connection of its own: a database that was away is simply used again, and
 * nothing has to be closed. Keys are stored as a {@link EscapedName}, because no database keeps NUL, case and composition
 * alike, under their hash, because PostgreSQL's indexes take 2,704 bytes and no more.
 */
public final class JdbcStore implements KeyValueStore {
    private static final String SQLITE = "jdbc:sqlite:";
    private static final String POSTGRESQL = "jdbc:postgresql:";

    private static final int SQLITE_BUSY_MILLIS = 30_000;

    private final String url;
    private volatile boolean hasTable;

    /** Connects when it is first used. */
    public JdbcStore(String url) {
        this.url = supported(url);
    }

    /** The address itself, if it is that of a database that a store can be kept in. */
    static String supported(String url) {
        if (!url.startsWith(SQLITE) && !url.startsWith(POSTGRESQL)) {
            throw SaverException.refused(
                    "no database that Waymark knows: " + shown(url),
                    "Use jdbc:sqlite:FILE or jdbc:postgresql://HOST/DB");
        }
        if (isInMemory(url)) {
            throw SaverException.refused(
                    "a database that nobody can reach twice: " + shown(url), "Name a file, or use memory:");
        }
        return url;
    }

    private static boolean isInMemory(String url) {
        String file = shown(url);
        return file.equals(SQLITE)
                || file.contains(":memory:")
                || (url.startsWith(SQLITE) && url.contains("mode=memory"));
    }

    /** Without what follows the question mark, where passwords are. */
    static String shown(String url) {
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

    /** Keeps others from changing the entry until the transaction ends. SQLite's transactions do so by themselves. */
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
        try (PreparedStatement upsert = connection.prepareStatement("""
                INSERT INTO waymark_entries (key_hash, entry_key, entry_value)
                VALUES (?, ?, ?)
                ON CONFLICT (key_hash) DO UPDATE SET entry_value = excluded.entry_value
                """)) {
            upsert.setString(1, Sha256.hex(key));
            upsert.setString(2, EscapedName.of(key));
            upsert.setString(3, value);
            return upsert.executeUpdate();
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
                                .orElseThrow(() -> SaverException.corrupt(shown(url), "no key: " + name)));
                    }
                    return keys;
                }
            }
        });
    }

    /** What is done in a connection. */
    interface Work<T> {
        T in(Connection connection) throws SQLException;
    }

    /** All of it or nothing. */
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

    /** {@code done} is what can't be done when it fails. */
    <T> T inTable(String done, Work<T> work) {
        if (!hasTable && isSqlite()) {
            keepPrivate();
        }
        try (Connection connection = connect()) {
            if (!hasTable) {
                createTable(connection);
                hasTable = true;
            }
            return work.in(connection);
        } catch (SQLException e) {
            throw SaverException.failed("the database can't be " + done, shown(url), e);
        }
    }

    /** SQLite would create its file readable by everybody, and gives its other files the same permissions. */
    private void keepPrivate() {
        String file = shown(url).substring(SQLITE.length()).replaceFirst("^file:", "");
        try {
            PrivateFiles.create(Path.of(file));
        } catch (IOException | InvalidPathException e) {
            // The driver says what is wrong with it.
        }
    }

    /** Waits for other writers. SQLite's driver gives up after 3 s, which a busy machine needs for a few commits. */
    private Connection connect() throws SQLException {
        Properties properties = new Properties();
        if (isSqlite()) {
            makeDirectory();
            // A transaction that begins to write in its middle can't wait for another writer any more.
            properties.setProperty("transaction_mode", "IMMEDIATE");
            properties.setProperty("busy_timeout", String.valueOf(SQLITE_BUSY_MILLIS));
        }
        // DriverManager's own way to connect puts the whole address into its message, password and all.
        return DriverManager.getDriver(url).connect(url, properties);
    }

    /** The driver makes the file, but no directory for it. */
    private void makeDirectory() {
        String file = shown(url).substring(SQLITE.length()).replaceFirst("^file:(//)?", "");
        try {
            Path directory = Path.of(file).toAbsolutePath().getParent();
            if (directory != null && !file.startsWith(":")) {
                Files.createDirectories(directory);
            }
        } catch (IOException | InvalidPathException e) {
            throw SaverException.failed("the database's directory can't be made", shown(url), e);
        }
    }

    /** Of several that create it at once, PostgreSQL lets all but one fail, in spite of IF NOT EXISTS. */
    private static void createTable(Connection connection) throws SQLException {
        if (hasTable(connection)) {
            return;
        }
        try (Statement create = connection.createStatement()) {
            create.execute("""
                    CREATE TABLE IF NOT EXISTS waymark_entries (
                        key_hash CHAR(64) NOT NULL PRIMARY KEY,
                        entry_key TEXT NOT NULL,
                        entry_value TEXT NOT NULL
                    )
                    """);
        } catch (SQLException e) {
            if (!hasTable(connection)) {
                throw e;
            }
        }
    }

    private static boolean hasTable(Connection connection) {
        try (Statement select = connection.createStatement()) {
            select.executeQuery("SELECT key_hash FROM waymark_entries WHERE 1 = 0")
                    .close();
            return true;
        } catch (SQLException e) {
            return false;
        }
    }
}
