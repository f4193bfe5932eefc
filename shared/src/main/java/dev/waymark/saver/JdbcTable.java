package dev.waymark.saver;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Creates tables unless they exist. */
public final class JdbcTable {
    private JdbcTable() {}

    /**
     * Creates a table unless it exists. If several clients do so at once, PostgreSQL fails for all but one, despite IF
     * NOT EXISTS.
     *
     * @param columns the definitions of the columns
     */
    public static void create(Connection connection, String name, String columns) throws SQLException {
        if (exists(connection, name)) {
            return;
        }
        try (Statement create = connection.createStatement()) {
            create.execute("CREATE TABLE IF NOT EXISTS " + name + " (" + columns + ")");
        } catch (SQLException e) {
            if (!exists(connection, name)) {
                throw e;
            }
        }
    }

    private static boolean exists(Connection connection, String name) {
        return has(connection, "1 FROM " + name);
    }

    /**
     * Whether a query for these columns succeeds.
     *
     * @param columns {@code column, … FROM table}
     */
    static boolean has(Connection connection, String columns) {
        try (Statement select = connection.createStatement()) {
            select.executeQuery("SELECT " + columns + " WHERE 1 = 0").close();
            return true;
        } catch (SQLException e) {
            return false;
        }
    }
}
