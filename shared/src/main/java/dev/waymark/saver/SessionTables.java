package dev.waymark.saver;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The tables {@code sessions}, {@code checkpoints} and {@code tool_calls}, for other programs. They are written from
 * documents in the {@code session} format, and are not used to restore threads.
 *
 * <p>A session is named by its thread's id, with {@code %00} for NUL, {@code %25} for a percent sign and {@code %7e}
 * for a leading tilde. The tables have no column for namespaces, so in a namespace other than the default one a session
 * is named {@code ~NAMESPACE/ID}. A name of more than 1,000 bytes, too long for an index, is replaced with {@code ~}
 * and its SHA-256. In other texts, NUL is replaced with U+FFFD, since PostgreSQL does not accept it.
 */
final class SessionTables {
    private static final int LONGEST_NAME_BYTES = 1_000;

    /** For each table: a query of the columns that it must have, and the statement that creates it. */
    private static final Map<String, String> TABLES = tables();

    private final boolean hasTimes;

    /** @param hasTimes whether the database has a type for times; otherwise they are stored as text */
    SessionTables(boolean hasTimes) {
        this.hasTimes = hasTimes;
    }

    private static Map<String, String> tables() {
        Map<String, String> tables = new LinkedHashMap<>();
        tables.put("session_id, created_at, updated_at, status FROM sessions", """
                CREATE TABLE IF NOT EXISTS sessions (
                    session_id TEXT PRIMARY KEY,
                    created_at TIMESTAMP NOT NULL,
                    updated_at TIMESTAMP NOT NULL,
                    status TEXT NOT NULL
                )
                """);
        tables.put(
                "session_id, version, created_at, transcript_json, plan_json, budget_spent_usd FROM checkpoints", """
                CREATE TABLE IF NOT EXISTS checkpoints (
                    session_id TEXT NOT NULL,
                    version INTEGER NOT NULL,
                    created_at TIMESTAMP NOT NULL,
                    transcript_json TEXT NOT NULL,
                    plan_json TEXT,
                    budget_spent_usd REAL NOT NULL DEFAULT 0,
                    PRIMARY KEY (session_id, version)
                )
                """);
        tables.put(
                "session_id, call_id, tool_name, args_json, idempotency_key, status, result_text, started_at,"
                        + " completed_at FROM tool_calls",
                """
                CREATE TABLE IF NOT EXISTS tool_calls (
                    session_id TEXT NOT NULL,
                    call_id TEXT NOT NULL,
                    tool_name TEXT NOT NULL,
                    args_json TEXT NOT NULL,
                    idempotency_key TEXT NOT NULL,
                    status TEXT NOT NULL,
                    result_text TEXT,
                    started_at TIMESTAMP NOT NULL,
                    completed_at TIMESTAMP,
                    PRIMARY KEY (session_id, call_id)
                )
                """);
        return tables;
    }

    static String session(Namespace namespace, String threadId) {
        String plain = plain(threadId);
        return shortened(namespace.equals(Namespace.DEFAULT) ? plain : "~" + namespace.name() + "/" + plain);
    }

    private static String call(String callId) {
        return shortened(plain(callId));
    }

    private static String plain(String id) {
        String escaped = id.replace("%", "%25").replace("\u0000", "%00");
        return escaped.startsWith("~") ? "%7e" + escaped.substring(1) : escaped;
    }

    private static String shortened(String name) {
        boolean fits = name.getBytes(StandardCharsets.UTF_8).length <= LONGEST_NAME_BYTES;
        return fits ? name : "~" + Sha256.hex(name);
    }

    /**
     * Creates missing tables and the index. Throws a {@link SaverException} if a table with one of the names lacks a
     * column.
     */
    void create(Connection connection) throws SQLException {
        for (Map.Entry<String, String> table : TABLES.entrySet()) {
            if (!JdbcTable.has(connection, table.getKey())) {
                execute(connection, table.getValue());
                if (!JdbcTable.has(connection, table.getKey())) {
                    String columns = table.getKey();
                    throw SaverException.refused(
                            "the database has a different table of this name: "
                                    + columns.substring(columns.lastIndexOf(' ') + 1),
                            "Use a separate database, or with PostgreSQL a separate schema: currentSchema=NAME");
                }
            }
        }
        execute(connection, "CREATE INDEX IF NOT EXISTS idx_tool_calls_idempotency ON tool_calls (idempotency_key)");
    }

    /**
     * Executes a statement, and repeats it after a failure. If several clients create the same table at once,
     * PostgreSQL fails for all but one, despite IF NOT EXISTS.
     */
    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            try {
                statement.execute(sql);
            } catch (SQLException e) {
                statement.execute(sql);
            }
        }
    }

    /** Updates the rows of a session from this document, in the caller's transaction. */
    void write(Connection connection, String session, Json document) throws SQLException {
        // The session's own row comes first: if several writers save the session at once, all but one wait.
        writeSession(connection, session, Json.of(document.field("session")));
        Object checkpoint = document.field("checkpoint");
        if (checkpoint != null) {
            writeCheckpoint(connection, session, Json.of(checkpoint));
        }
        writeCalls(connection, session, document.field("tool_calls"));
    }

    void delete(Connection connection, String session) throws SQLException {
        for (String table : List.of("sessions", "checkpoints", "tool_calls")) {
            try (PreparedStatement delete =
                    connection.prepareStatement("DELETE FROM " + table + " WHERE session_id = ?")) {
                delete.setString(1, session);
                delete.executeUpdate();
            }
        }
    }

    private void writeSession(Connection connection, String session, Json row) throws SQLException {
        try (PreparedStatement upsert = connection.prepareStatement("""
                INSERT INTO sessions (session_id, created_at, updated_at, status)
                VALUES (?, ?, ?, ?)
                ON CONFLICT (session_id) DO UPDATE SET updated_at = excluded.updated_at, status = excluded.status
                """)) {
            upsert.setString(1, session);
            setTime(upsert, 2, row.field("created_at"));
            setTime(upsert, 3, row.field("updated_at"));
            upsert.setString(4, text(row.field("status")));
            upsert.executeUpdate();
        }
    }

    private record Newest(
            long version, String transcript, @Nullable String plan) {}

    /**
     * Writes a version, unless the newest version has the same transcript and plan. Existing versions are never
     * overwritten. The version gets the thread's own number or, because a restored thread starts counting again, the
     * next free number.
     */
    private void writeCheckpoint(Connection connection, String session, Json row) throws SQLException {
        String transcript = CheckpointText.write(Json.of(row.field("transcript")));
        Object plan = row.field("plan");
        String planText = plan == null ? null : CheckpointText.write(Json.of(plan));
        Optional<Newest> newest = newest(connection, session);
        boolean isThere = newest.isPresent()
                && newest.get().transcript().equals(transcript)
                && Optional.ofNullable(newest.get().plan()).equals(Optional.ofNullable(planText));
        if (isThere) {
            return;
        }
        long own = ((Number) Objects.requireNonNull(row.field("version"))).longValue();
        try (PreparedStatement insert = connection.prepareStatement("""
                INSERT INTO checkpoints
                    (session_id, version, created_at, transcript_json, plan_json, budget_spent_usd)
                VALUES (?, ?, ?, ?, ?, ?)
                """)) {
            insert.setString(1, session);
            insert.setLong(
                    2, newest.map(each -> Math.max(own, each.version() + 1)).orElse(own));
            setTime(insert, 3, row.field("created_at"));
            insert.setString(4, transcript);
            insert.setString(5, planText);
            insert.setDouble(6, ((Number) Objects.requireNonNull(row.field("budget_spent_usd"))).doubleValue());
            insert.executeUpdate();
        }
    }

    private static Optional<Newest> newest(Connection connection, String session) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("""
                SELECT version, transcript_json, plan_json FROM checkpoints
                WHERE session_id = ? ORDER BY version DESC LIMIT 1
                """)) {
            select.setString(1, session);
            try (ResultSet rows = select.executeQuery()) {
                return rows.next()
                        ? Optional.of(new Newest(rows.getLong(1), rows.getString(2), rows.getString(3)))
                        : Optional.empty();
            }
        }
    }

    /** Writes only new, open and changed calls, since a thread may have thousands. */
    private void writeCalls(Connection connection, String session, @Nullable Object calls) throws SQLException {
        Map<String, String> known = calls(connection, session);
        try (PreparedStatement upsert = connection.prepareStatement("""
                INSERT INTO tool_calls
                    (session_id, call_id, tool_name, args_json, idempotency_key, status, result_text, started_at,
                    completed_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (session_id, call_id) DO UPDATE SET
                    tool_name = excluded.tool_name, args_json = excluded.args_json,
                    idempotency_key = excluded.idempotency_key, status = excluded.status,
                    result_text = excluded.result_text, completed_at = excluded.completed_at
                """)) {
            int rows = 0;
            for (Object each : (List<?>) Objects.requireNonNull(calls)) {
                Json call = Json.of(each);
                String id = call(text(call.field("call_id")));
                String status = text(call.field("status"));
                if (!status.equals("issued") && (status + call.field("idempotency_key")).equals(known.get(id))) {
                    continue;
                }
                upsert.setString(1, session);
                upsert.setString(2, id);
                upsert.setString(3, text(call.field("tool_name")));
                upsert.setString(4, text(call.field("args_json")));
                upsert.setString(5, text(call.field("idempotency_key")));
                upsert.setString(6, status);
                Object result = call.field("result_text");
                upsert.setString(7, result == null ? null : storable(result));
                setTime(upsert, 8, call.field("started_at"));
                setTime(upsert, 9, call.field("completed_at"));
                upsert.addBatch();
                rows++;
            }
            if (rows > 0) {
                upsert.executeBatch();
            }
        }
    }

    /** The status and the idempotency key of each stored call, by call id. */
    private static Map<String, String> calls(Connection connection, String session) throws SQLException {
        Map<String, String> known = new LinkedHashMap<>();
        try (PreparedStatement select = connection.prepareStatement(
                "SELECT call_id, status, idempotency_key FROM tool_calls WHERE session_id = ?")) {
            select.setString(1, session);
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    known.put(rows.getString(1), rows.getString(2) + rows.getString(3));
                }
            }
        }
        return known;
    }

    private static String text(@Nullable Object value) {
        return storable(String.valueOf(value));
    }

    private void setTime(PreparedStatement statement, int index, @Nullable Object iso) throws SQLException {
        if (iso == null) {
            statement.setNull(index, Types.TIMESTAMP);
        } else if (hasTimes) {
            statement.setObject(index, OffsetDateTime.parse((String) iso).toLocalDateTime());
        } else {
            statement.setString(index, (String) iso);
        }
    }

    private static String storable(Object text) {
        return ((String) text).replace('\u0000', '\uFFFD');
    }
}
