package dev.waymark.saver;

import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Runs operations on connections to a database: on a connection for each of them, or on one that is kept open. */
abstract class JdbcConnections implements AutoCloseable {
    private final String url;
    private final Properties properties;

    private JdbcConnections(String url, Properties properties) {
        this.url = url;
        this.properties = properties;
    }

    /** An operation on a connection. */
    interface Work<T> {
        T in(Connection connection) throws SQLException;
    }

    abstract <T> T run(Work<T> work) throws SQLException;

    @Override
    public void close() {}

    Connection connect() throws SQLException {
        // DriverManager.getConnection would put the whole URL, including the password, into its message.
        return DriverManager.getDriver(url).connect(url, properties);
    }

    /** Opens a connection for each operation, so outages of the database need no handling. */
    static JdbcConnections each(String url, Properties properties) {
        return new JdbcConnections(url, properties) {
            @Override
            <T> T run(Work<T> work) throws SQLException {
                try (Connection connection = connect()) {
                    return work.in(connection);
                }
            }
        };
    }

    /** Keeps one connection open, for one operation at a time, and opens another one after a failure. */
    static JdbcConnections kept(String url, Properties properties) {
        return new Kept(url, properties);
    }

    private static final class Kept extends JdbcConnections {
        private final ReentrantLock lock = new ReentrantLock();
        private @Nullable Connection open;

        Kept(String url, Properties properties) {
            super(url, properties);
        }

        /**
         * Repeats the work once if it fails on a connection that was used before, since that connection may be lost.
         * The first attempt may have taken effect. A timeout is not followed by a second attempt: the caller would wait
         * twice as long.
         */
        @Override
        <T> T run(Work<T> work) throws SQLException {
            lock.lock();
            try {
                boolean isOld = open != null;
                try {
                    return attempt(work);
                } catch (SQLException e) {
                    if (!isOld || e.getCause() instanceof SocketTimeoutException) {
                        throw e;
                    }
                }
                return attempt(work);
            } finally {
                lock.unlock();
            }
        }

        private <T> T attempt(Work<T> work) throws SQLException {
            try {
                Connection connection = open;
                if (connection == null) {
                    connection = connect();
                    open = connection;
                }
                return work.in(connection);
            } catch (SQLException e) {
                disconnect();
                throw e;
            }
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
    }
}
