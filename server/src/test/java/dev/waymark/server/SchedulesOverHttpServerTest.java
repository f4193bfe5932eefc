package dev.waymark.server;

import static dev.waymark.server.ServedThreads.ANN;
import static dev.waymark.server.ServedThreads.OPERATOR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Schedules over HTTP, on the real server. */
@Tag("full")
@Tag("server")
class SchedulesOverHttpServerTest {
    private static final String NIGHTLY =
            "{'name':'nightly','agent':'assistant','message':'Hi','cron':'0 2 * * *','timezone':'Europe/Berlin'}";

    @TempDir
    private Path directory;

    private ServedThreads threads() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal command");
        return ServedThreads.on(DevServer.temporal(binary.orElseThrow(), Optional.empty(), 0, 0), directory, Map.of());
    }

    @Test
    void schedule_triggered_isListedWithItsThreadUntilDeleted() throws Exception {
        try (ServedThreads threads = threads()) {
            HttpCaller operator = HttpCaller.of(threads.serve(), OPERATOR);

            JsonNode created = checked("Schedule", operator.post("/v1/schedules", NIGHTLY));
            assertThat(created.path("cron").asText()).isEqualTo("0 2 * * *");
            assertThat(created.path("overlap").asText()).isEqualTo("skip");
            assertThat(operator.post("/v1/schedules", NIGHTLY).status()).isEqualTo(200);
            HttpCaller.Answer other = operator.post("/v1/schedules", NIGHTLY.replace("Hi", "Ho"));
            assertThat(other.status() + " " + other.text("code")).isEqualTo("409 KeyReused");
            JsonNode replaced = checked(
                    "Schedule",
                    operator.post("/v1/schedules", NIGHTLY.replace("'Hi'", "'Ho','replace':true,'jitter':'PT5S'")));
            assertThat(replaced.path("message").asText()).isEqualTo("Ho");
            assertThat(replaced.path("jitter").asText()).isEqualTo("PT5S");

            JsonNode trigger = checked("ScheduleTrigger", operator.post("/v1/schedules/nightly/trigger", "{}"));
            assertThat(trigger.path("result").asText()).isEqualTo("started");
            String thread = trigger.path("thread").asText();
            await().atMost(Duration.ofMinutes(1))
                    .until(() ->
                            operator.get("/v1/threads/" + thread).text("status").equals("complete"));
            assertThat(HttpCaller.checked(
                                    "Thread",
                                    operator.get("/v1/threads/" + thread).body())
                            .path("schedule")
                            .asText())
                    .isEqualTo("nightly");
            JsonNode shown = checked("Schedule", operator.get("/v1/schedules/nightly"));
            assertThat(shown.at("/runs/0/status").asText()).isEqualTo("complete");
            assertThat(shown.at("/owner/subject").asText()).isNotEmpty();

            checked("ScheduleName", operator.post("/v1/schedules/nightly/pause", "{'note':'No invoices'}"));
            JsonNode list = await().atMost(Duration.ofMinutes(1))
                    .until(
                            () -> checked("ScheduleList", operator.get("/v1/schedules?limit=1")),
                            found -> found.path("schedules").size() == 1);
            assertThat(list.at("/schedules/0/note").asText()).isEqualTo("No invoices");
            checked("ScheduleName", operator.post("/v1/schedules/nightly/resume", "{}"));
            checked(
                    "Backfill",
                    operator.post(
                            "/v1/schedules/nightly/backfill",
                            "{'from':'2026-11-01T00:00:00Z','to':'2026-11-02T01:00:00+01:00'}"));

            checked(
                    "ScheduleName",
                    operator.send(operator.request("/v1/schedules/nightly").DELETE()));
            HttpCaller.Answer gone = operator.get("/v1/schedules/nightly");
            assertThat(gone.status() + " " + gone.text("code")).isEqualTo("404 NotFound");
        }
    }

    private static JsonNode checked(String schema, HttpCaller.Answer answer) {
        assertThat(answer.status()).as(answer.body().toString()).isEqualTo(200);
        return HttpCaller.checked(schema, answer.body());
    }

    @Test
    void invalidSchedule_isRefused() throws Exception {
        try (ServedThreads threads = threads()) {
            HttpCaller operator = HttpCaller.of(threads.serve(), OPERATOR);

            HttpCaller.Answer thread = operator.post("/v1/schedules", NIGHTLY.replace("'Hi'", "'Hi','thread':'trip'"));
            assertThat(thread.status() + " " + thread.text("detail"))
                    .isEqualTo("400 a schedule can't send messages into one thread: trip");
            for (String bad : List.of(
                    NIGHTLY.replace("'cron':'0 2 * * *',", ""),
                    NIGHTLY.replace("'cron'", "'every':'PT1H','cron'"),
                    NIGHTLY.replace("0 2 * * *", "0 0 2 * * *"),
                    NIGHTLY.replace("0 2 * * *", "0 99 * * *"),
                    NIGHTLY.replace("'cron':'0 2 * * *'", "'every':'hourly'"),
                    NIGHTLY.replace("Europe/Berlin", "Mars"),
                    NIGHTLY.replace("nightly", "a/b"),
                    NIGHTLY.replace("'message':'Hi',", ""))) {
                assertThat(operator.post("/v1/schedules", bad).status()).as(bad).isEqualTo(400);
            }
            HttpCaller ann = operator.as(ANN);
            assertThat(ann.post("/v1/schedules", NIGHTLY).status()).isEqualTo(403);
            assertThat(ann.get("/v1/schedules").status()).isEqualTo(403);
            assertThat(ann.get("/v1/schedules/nightly").status()).isEqualTo(403);
            assertThat(operator.get("/v1/schedules?after=garbage").status()).isEqualTo(400);
        }
    }
}
