package dev.waymark.saver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.testkit.KeyValueStoreContract;
import dev.waymark.testkit.process.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("full")
class PostgresStoreTest {
    private static PostgresServer server;

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

    @Nested
    class Store extends KeyValueStoreContract {
        @Override
        protected KeyValueStore open() throws Exception {
            return new JdbcStore(server.newSchema());
        }
    }

    @Nested
    class Saver extends JdbcSaverCases {
        private final String url = server.newSchema();

        Saver() throws Exception {}

        @Override
        String url() {
            return url;
        }
    }

    @Test
    void save_tablesLocked_timesOutAndTheSaverStaysUsable() throws Exception {
        String url = server.newSchema();
        try (CheckpointSaver saver = new BoundedSaver(new JdbcSaver(url, Namespace.DEFAULT), Duration.ofSeconds(2));
                Connection other = DriverManager.getConnection(url)) {
            Json document = Json.of(Map.of("threadId", "t", "step", 1));
            saver.save(document);
            other.setAutoCommit(false);
            other.createStatement().execute("LOCK TABLE waymark_entries IN ACCESS EXCLUSIVE MODE");

            assertThatThrownBy(() -> saver.save(document))
                    .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.type(SaverException.class))
                    .returns(ProblemType.SAVER_FAILED, SaverException::type)
                    .satisfies(e -> assertThat(e).hasMessage("the saver did not answer within 2 s: saving t"));
            assertThatThrownBy(() -> saver.load("t"))
                    .isInstanceOf(SaverException.class)
                    .hasMessage("the saver did not answer within 2 s: loading t");
            other.rollback();

            assertThat(saver.load("t")).contains(document);
        }
    }

    @Test
    void save_noServer_namesTheAddressWithoutThePassword() {
        KeyValueStore away = new JdbcStore("jdbc:postgresql://127.0.0.1:1/agents?user=waymark&password=secret");

        assertThatThrownBy(() -> away.put("k", "v"))
                .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.type(SaverException.class))
                .satisfies(e -> assertThat(e.type()).isEqualTo(ProblemType.SAVER_FAILED))
                .satisfies(e -> assertThat(e)
                        .hasMessageStartingWith("the database can't be written: jdbc:postgresql://127.0.0.1:1/agents (")
                        .hasMessageNotContaining("secret"));
    }
}
