package dev.waymark.saver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.testkit.DurableSaverContract;
import dev.waymark.testkit.SavedOwnersContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The contracts for database savers, and tests of the tables that they write for other programs to read. */
abstract class JdbcSaverCases extends DurableSaverContract implements SavedOwnersContract {
    /** The URL of an empty database for this test. */
    abstract String url();

    @Override
    protected CheckpointSaver open() {
        return new JdbcSaver(url(), Namespace.DEFAULT);
    }

    @Override
    public CheckpointSaver saverWithOwners() {
        return open();
    }

    @Override
    protected void replaceStored(String threadId, String text) {
        new JdbcStore(url()).put("default/checkpoints/" + threadId, text);
    }

    @Test
    void tables_afterASave_holdTheSessionItsVersionAndItsCalls() {
        saver.save(checkpoint("session-alpha", 1), () -> session("session-alpha", 3, "Hi"));

        assertThat(rows("SELECT session_id, status FROM sessions")).containsExactly("session-alpha|active");
        assertThat(rows("SELECT session_id, version, transcript_json, plan_json, budget_spent_usd FROM checkpoints"))
                .containsExactly(
                        "session-alpha|3|" + CheckpointText.write(transcript("session-alpha", "Hi")) + "|null|0.25");
        assertThat(rows("SELECT call_id, tool_name, args_json, idempotency_key, status, result_text FROM tool_calls"
                        + " ORDER BY call_id"))
                .containsExactly(
                        "tu_1|charge_card|{\"cents\": 500}|" + "e3b0".repeat(16) + "|completed|charged",
                        "tu_2|charge_card|{\"cents\": 500}|" + "e3b0".repeat(16) + "|issued|null");
        assertThat(rows("SELECT created_at, updated_at FROM sessions").get(0))
                .matches("2026-05-01.09:00:00.*2026-05-01.09:00:00[.]003.*");
        assertThat(rows("SELECT started_at, completed_at FROM tool_calls ORDER BY call_id"))
                .allMatch(row -> row.startsWith("2026-05-01"));
    }

    @Test
    void tables_saveAgain_addsAVersionAndSettlesCalls() {
        saver.save(checkpoint("t", 1), () -> session("t", 1, "Hi"));
        saver.save(
                checkpoint("t", 2),
                () -> with(
                        session("t", 4, "Hi again"),
                        "tool_calls",
                        List.of(
                                call("t", "tu_1", "completed"),
                                call("t", "tu_2", "failed"),
                                call("t", "tu_3", "issued"))));

        assertThat(rows("SELECT version FROM checkpoints ORDER BY version")).containsExactly("1", "4");
        assertThat(rows("SELECT call_id, status FROM tool_calls ORDER BY call_id"))
                .containsExactly("tu_1|completed", "tu_2|failed", "tu_3|issued");
        assertThat(rows("SELECT session_id FROM sessions")).containsExactly("t");
    }

    @Test
    void tables_sameSavedTwice_haveOneVersion() {
        saver.save(checkpoint("t", 1), () -> session("t", 1, "Hi"));
        saver.save(checkpoint("t", 1), () -> session("t", 1, "Hi"));

        assertThat(rows("SELECT version FROM checkpoints")).containsExactly("1");
    }

    @Test
    void tables_threadWithARestartedCount_overwritesNoVersion() {
        saver.save(checkpoint("t", 1), () -> session("t", 6, "before"));
        saver.save(checkpoint("t", 1), () -> session("t", 1, "after"));
        saver.save(checkpoint("t", 2), () -> session("t", 2, "later"));

        assertThat(rows("SELECT version FROM checkpoints ORDER BY version")).containsExactly("6", "7", "8");
    }

    @Test
    void tables_middleVersionDeleted_loadsTheNewestAndContinues() throws Exception {
        for (int version = 1; version <= 3; version++) {
            int number = version;
            saver.save(checkpoint("t", version), () -> session("t", number, "said " + number));
        }
        execute("DELETE FROM checkpoints WHERE version = 2");

        assertThat(saver.load("t")).contains(checkpoint("t", 3));
        saver.save(checkpoint("t", 4), () -> session("t", 4, "more"));
        assertThat(rows("SELECT version FROM checkpoints ORDER BY version")).containsExactly("1", "3", "4");
    }

    @Test
    void tables_namespaces_areSeparate() {
        CheckpointSaver billing = new JdbcSaver(url(), new Namespace("billing"));
        saver.save(checkpoint("t", 1), () -> session("t", 1, "Hi"));
        billing.save(checkpoint("t", 2), () -> session("t", 2, "Pay"));
        saver.save(checkpoint("~billing/t", 3), () -> session("~billing/t", 3, "Hm"));

        assertThat(rows("SELECT session_id, version FROM checkpoints ORDER BY version"))
                .containsExactly("t|1", "~billing/t|2", "%7ebilling/t|3");
        billing.delete("t");
        assertThat(rows("SELECT session_id FROM sessions ORDER BY session_id")).containsExactly("%7ebilling/t", "t");
        assertThat(rows("SELECT DISTINCT session_id FROM tool_calls ORDER BY session_id"))
                .containsExactly("%7ebilling/t", "t");
    }

    @Test
    void tables_textsThatDatabasesReject_areStoredInAnotherForm() {
        Map<String, Object> call = new LinkedHashMap<>(call("t", "tu\u0000" + "x".repeat(4_000), "failed"));
        call.put("tool_name", "no\u0000tool");
        call.put("result_text", "a\u0000b");
        saver.save(checkpoint("a\u0000b", 1), () -> with(session("t", 1, "\u0000"), "tool_calls", List.of(call)));

        assertThat(rows("SELECT session_id FROM sessions")).containsExactly("a%00b");
        assertThat(rows("SELECT call_id, tool_name, result_text FROM tool_calls"))
                .singleElement()
                .asString()
                .matches("~[0-9a-f]{64}[|]no\uFFFDtool[|]a\uFFFDb");
    }

    @Test
    void save_betweenVersions_bringsTheCallsUpToDateAndAddsNoVersion() throws Exception {
        saver.save(checkpoint("t", 1), () -> session("t", 1, "Hi"));
        List<String> before = rows("SELECT version FROM checkpoints");
        Json row = Json.of(((List<?>) session("t", 1, "Hi").field("tool_calls")).get(0));
        Json running = with(with(with(row, "call_id", "running"), "status", "issued"), "completed_at", null);
        Json log = with(session("t", 1, "Hi"), "tool_calls", List.of(running));
        saver.save(checkpoint("t", 2), () -> without(log, "checkpoint"));

        assertThat(rows("SELECT version FROM checkpoints")).isEqualTo(before);
        assertThat(rows("SELECT status, completed_at FROM tool_calls WHERE call_id = 'running'"))
                .containsExactly("issued|null");
        assertThat(saver.load("t")).contains(checkpoint("t", 2));
    }

    @Test
    void save_sessionThatCannotBeStored_changesNothing() throws Exception {
        saver.save(checkpoint("t", 1), () -> session("t", 1, "Hi"));
        execute("DROP TABLE tool_calls");

        assertThatThrownBy(() -> saver.save(checkpoint("t", 2), () -> session("t", 2, "Hi again")))
                .asInstanceOf(type(SaverException.class))
                .extracting(SaverException::type)
                .isEqualTo(ProblemType.SAVER_FAILED);
        assertThat(saver.load("t")).contains(checkpoint("t", 1));
        assertThat(rows("SELECT version FROM checkpoints")).containsExactly("1");
    }

    @Test
    void save_foreignTable_isRefusedAndLeftUnchanged() throws Exception {
        execute("CREATE TABLE checkpoints (thread_id TEXT)");

        assertThatThrownBy(() -> saver.save(checkpoint("t", 1), () -> session("t", 1, "Hi")))
                .asInstanceOf(type(SaverException.class))
                .satisfies(e -> assertThat(e.type()).isEqualTo(ProblemType.BAD_INPUT))
                .satisfies(e -> assertThat(e).hasMessageContaining("a different table of this name: checkpoints"));
        assertThat(saver.load("t")).isEmpty();
        assertThat(rows("SELECT thread_id FROM checkpoints")).isEmpty();
    }

    private static Json with(Json document, String name, Object value) {
        Map<String, Object> fields = new LinkedHashMap<>();
        ((Map<?, ?>) document.value()).forEach((key, each) -> fields.put((String) key, each));
        fields.put(name, value);
        return Json.of(fields);
    }

    private static Json without(Json document, String name) {
        Map<String, Object> fields = new LinkedHashMap<>();
        ((Map<?, ?>) document.value()).forEach((key, each) -> fields.put((String) key, each));
        fields.remove(name);
        return Json.of(fields);
    }

    private static Json transcript(String threadId, String said) {
        return Json.of(Json.of(session(threadId, 1, said).field("checkpoint")).field("transcript"));
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Returns the rows of a query, each with its columns joined by {@code |}. */
    private List<String> rows(String sql) {
        try (Connection connection = DriverManager.getConnection(url());
                Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (found.next()) {
                List<String> columns = new ArrayList<>();
                for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
                    columns.add(found.getString(i));
                }
                rows.add(String.join("|", columns));
            }
            return rows;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
