package dev.waymark.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.testkit.process.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("full")
class PostgresKeyStoreTest extends KeyStoreCases {
    private static PostgresServer server;

    private String url;

    @BeforeAll
    static void startServer(@TempDir Path directory) throws Exception {
        server = PostgresServer.start(directory);
    }

    @AfterAll
    static void stopServer() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void createSchema() throws Exception {
        url = server.newSchema();
    }

    @Override
    KeyStore open(String setting) {
        return new PostgresKeyStore(setting);
    }

    @Override
    String setting() {
        return url;
    }

    @Override
    String backup() throws Exception {
        return server.dump();
    }

    @Test
    void lostConnection_isReopened() throws Exception {
        KeyStore store = open(setting());
        assertThat(store.all()).isEmpty();

        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                + " AND datname = 'postgres'");

        assertThat(store.all()).isEmpty();
    }

    /** Opens connections that break after each change has been committed, while it is armed. */
    private static final class BreakingDriver implements Driver {
        static final String PREFIX = "jdbc:breaking:";
        static boolean isArmed;

        @Override
        public Connection connect(String url, Properties properties) throws SQLException {
            Connection real = DriverManager.getDriver(real(url)).connect(real(url), properties);
            return breaking(Connection.class, real, real);
        }

        private static String real(String url) {
            return "jdbc:" + url.substring(PREFIX.length());
        }

        private static <T> T breaking(Class<T> type, T real, Connection connection) {
            return type.cast(Proxy.newProxyInstance(
                    BreakingDriver.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                        Object result;
                        try {
                            result = method.invoke(real, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                        if (method.getName().equals("executeUpdate") && isArmed) {
                            isArmed = false;
                            connection.close();
                            throw new SQLException("the connection is broken");
                        }
                        return result instanceof PreparedStatement statement
                                ? breaking(PreparedStatement.class, statement, connection)
                                : result;
                    }));
        }

        @Override
        public boolean acceptsURL(String url) {
            return url.startsWith(PREFIX);
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return Logger.getGlobal();
        }
    }

    @Test
    void change_committedAsTheConnectionBreaks_isReportedAsMade() throws Exception {
        Driver driver = new BreakingDriver();
        DriverManager.registerDriver(driver);
        try (KeyStore store = open(url.replaceFirst("jdbc:", BreakingDriver.PREFIX))) {
            ThreadKeyEntry entry = new ThreadKeyEntry(
                    "default",
                    "trip",
                    Instant.EPOCH,
                    Optional.of(new ThreadKeyEntry.WrappedKey("2026a", "c2VhbGVk")),
                    Optional.empty(),
                    List.of());
            ThreadKeyEntry forgotten = entry.withoutKey(Instant.ofEpochSecond(7));
            assertThat(store.all()).isEmpty();

            BreakingDriver.isArmed = true;
            assertThat(store.create(entry)).isTrue();
            assertThat(BreakingDriver.isArmed).isFalse();
            BreakingDriver.isArmed = true;
            assertThat(store.replace(entry, forgotten)).isTrue();
            assertThat(BreakingDriver.isArmed).isFalse();

            assertThat(store.all()).containsExactly(forgotten);
            BreakingDriver.isArmed = true;
            assertThat(store.create(entry)).isFalse();
            BreakingDriver.isArmed = true;
            assertThat(store.replace(entry, entry.withoutKey(Instant.ofEpochSecond(8))))
                    .isFalse();
        } finally {
            DriverManager.deregisterDriver(driver);
        }
    }

    @Test
    void failure_doesNotShowThePassword() {
        assertThatThrownBy(() -> new PostgresKeyStore("jdbc:postgresql://127.0.0.1:1/x?user=u&password=hunter2").all())
                .isInstanceOf(KeyStoreException.class)
                .hasMessageContaining("jdbc:postgresql://127.0.0.1:1/x")
                .hasMessageNotContaining("hunter2");
    }
}
