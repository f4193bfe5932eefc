package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Alters histories in the database of a real server that is stopped, and checks that {@code verify} detects this. */
@Tag("full")
@Tag("server")
@Timeout(300)
class AlteredHistoryServerTest {
    @TempDir
    private Path directory;

    @Test
    void verify_alteredDatabase_namesTheForgedEvents() throws Exception {
        Path agents = new Agents(Files.createDirectory(directory.resolve("agents")))
                .agent("greeter", "", "replies: [{ text: Good morning. }]")
                .charger("payee", 1, "")
                .directory();
        String closed;
        try (Dev dev = Dev.durable(agents)) {
            Command waymark = Command.warmAt(dev.address());
            closed = waymark.run("run", "--agent", "greeter", "Hi", "--json")
                    .json()
                    .get("thread")
                    .textValue();
            waymark.run("run", "--agent", "greeter", "--thread", "open", "Hi");
            waymark.run("run", "--agent", "payee", "--thread", "paid", "Pay");
            waymark.run("approve", "paid", "--by", "ann");
            waymark.run("run", "--agent", "payee", "--thread", "untouched", "Pay");
            waymark.run("approve", "untouched", "--by", "ben");
            for (String thread : new String[] {closed, "open", "paid", "untouched"}) {
                assertThat(waymark.run("verify", thread)).as(thread).returns(0, Done::exitCode);
            }
        }

        assertThat(replaced(agents.resolve("temporal.db"), "Good morning.", "Good evening."))
                .isPositive();
        assertThat(replaced(agents.resolve("temporal.db"), "\"ann\"", "\"eve\""))
                .isPositive();

        try (Dev dev = Dev.durable(agents)) {
            Command waymark = Command.warmAt(dev.address());
            assertThat(waymark.run("show", "open").out()).contains("Good evening.");
            assertThat(waymark.run("calls", "paid").out()).contains("eve");
            assertThat(waymark.run("verify", closed))
                    .returns(1, Done::exitCode)
                    .extracting(done -> done.out() + done.err())
                    .asString()
                    .contains("its words are not those that the worker recorded");
            assertThat(waymark.run("verify", "open")).returns(1, Done::exitCode);
            assertThat(waymark.run("verify", "paid"))
                    .returns(1, Done::exitCode)
                    .extracting(done -> done.out() + done.err())
                    .asString()
                    .contains("decisions before the model call at");
            assertThat(waymark.run("verify", "untouched")).returns(0, Done::exitCode);
        }
    }

    /**
     * Replaces a text with another one of the same length in all stored events, and returns the number of changed
     * batches of events.
     */
    private static int replaced(Path database, String text, String other) throws SQLException {
        Map<Long, byte[]> changed = new LinkedHashMap<>();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + database)) {
            try (ResultSet rows = connection.createStatement().executeQuery("SELECT rowid, data FROM history_node")) {
                while (rows.next()) {
                    String data = new String(rows.getBytes(2), StandardCharsets.ISO_8859_1);
                    if (data.contains(text)) {
                        changed.put(rows.getLong(1), data.replace(text, other).getBytes(StandardCharsets.ISO_8859_1));
                    }
                }
            }
            try (PreparedStatement update =
                    connection.prepareStatement("UPDATE history_node SET data = ? WHERE rowid = ?")) {
                for (Map.Entry<Long, byte[]> each : changed.entrySet()) {
                    update.setBytes(1, each.getValue());
                    update.setLong(2, each.getKey());
                    update.executeUpdate();
                }
            }
        }
        return changed.size();
    }
}
