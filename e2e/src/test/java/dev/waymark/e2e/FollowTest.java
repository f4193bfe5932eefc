package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.conversation.value.Json;
import dev.waymark.e2e.product.Dev;
import dev.waymark.e2e.product.Watching;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("full")
class FollowTest extends FollowCases {
    @Override
    Dev start(Path agents) {
        return Dev.inMemory(agents);
    }

    private static List<String> rows(String database) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(database);
                ResultSet calls = connection
                        .createStatement()
                        .executeQuery("SELECT tool_name, args_json, status, completed_at FROM tool_calls")) {
            while (calls.next()) {
                rows.add(calls.getString(1) + " " + calls.getString(2) + " " + calls.getString(3) + " "
                        + calls.getString(4));
            }
        } catch (SQLException e) {
            if (!String.valueOf(e.getMessage()).contains("no such table")) {
                throw e;
            }
        }
        return rows;
    }

    @Test
    void follow_thread_savesEachStepUntilItCloses() throws Exception {
        begin("assistant", thread);
        try (Watching follower = follow("save", thread, "--follow", "--to", target, "--json")) {
            await().atMost(LONG).until(() -> steps(follower, thread).equals(List.of(1)));
            waymark.run("answer", thread, "Friday");
            await().atMost(LONG).until(() -> steps(follower, thread).contains(2));
            Json newest = checkpoint(thread);
            waymark.run("close", thread);

            assertThat(follower.exitCode()).isZero();
            assertThat(saved(thread)).contains(newest);
            assertThat(follower.lines())
                    .allSatisfy(line ->
                            assertThat(line.fieldNames()).toIterable().containsExactly("type", "threadId", "step"));
            assertThat(steps(follower, thread)).isSorted().endsWith(2);
            assertThat(follower.complaints()).isEmpty();
        }
    }

    @Test
    void follow_failingSaver_isReportedOnceAndResumesWhenFixed() throws Exception {
        Path place = Files.writeString(directory.resolve(thread), "no directory");
        begin("greeter", thread);
        try (Watching follower = follow("save", thread, "--follow", "--to", target, "--json")) {
            await().atMost(LONG).until(() -> !follower.complaints().isEmpty());
            waymark.run("say", thread, "More");
            Files.delete(place);
            await().atMost(LONG).until(() -> saved(thread).equals(Optional.of(checkpoint(thread))));
            await().atMost(LONG).until(() -> steps(follower, thread).equals(List.of(2)));

            assertThat(follower.complaints().lines())
                    .singleElement()
                    .asString()
                    .startsWith("waymark: the file can't be");
            assertThat(follower.terminate()).isZero();
        }
    }

    @Test
    void follow_everyTurn_savesAtItsEndAndAtQuestions() throws Exception {
        begin("assistant", thread);
        try (Watching follower = follow("save", thread, "--follow", "--to", target, "--every", "turn", "--json")) {
            await().atMost(LONG).until(() -> steps(follower, thread).equals(List.of(1)));
            waymark.run("answer", thread, "Friday");

            await().atMost(LONG).until(() -> steps(follower, thread).equals(List.of(1, 2)));
        }
    }

    @Test
    void follow_runningCall_hasARowBeforeItEnds() throws Exception {
        String database = "jdbc:sqlite:" + directory.resolve("running.db");
        waymark.run("run", "--agent", "dawdler", "--thread", thread, "--volatile", "--no-wait", "Charge");
        try (Watching follower = follow("save", thread, "--follow", "--to", database, "--json")) {
            await().atMost(LONG).until(() -> !rows(database).isEmpty());

            assertThat(rows(database)).containsExactly("charge_card {\"cents\": 500} issued null");
            assertThat(follower.lines("checkpoint-saved")).isEmpty();
            waymark.run("stop", thread);
            await().atMost(LONG).until(() -> rows(database).get(0).contains(" failed "));
        }
    }
}
