package dev.waymark.keystore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.saver.PostgresServer;
import java.nio.file.Path;
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
    void lostConnection_isOpenedAgain() throws Exception {
        KeyStore store = open(setting());
        assertThat(store.all()).isEmpty();

        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                + " AND datname = 'postgres'");

        assertThat(store.all()).isEmpty();
    }

    @Test
    void failure_doesNotShowThePassword() {
        assertThatThrownBy(() -> new PostgresKeyStore("jdbc:postgresql://127.0.0.1:1/x?user=u&password=hunter2").all())
                .isInstanceOf(KeyStoreException.class)
                .hasMessageContaining("jdbc:postgresql://127.0.0.1:1/x")
                .hasMessageNotContaining("hunter2");
    }
}
