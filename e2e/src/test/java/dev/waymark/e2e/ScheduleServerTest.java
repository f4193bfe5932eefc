package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.client.AgentClient;
import dev.waymark.client.Schedules;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.Progress;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.schedule.AgentSchedule;
import dev.waymark.client.schedule.NewSchedule;
import dev.waymark.client.schedule.OverlapPolicy;
import dev.waymark.client.schedule.Recurrence;
import dev.waymark.client.schedule.SchedulePage;
import dev.waymark.client.schedule.ScheduleTrigger;
import dev.waymark.codec.ScheduledThread;
import dev.waymark.connect.Connection;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.e2e.product.Command;
import dev.waymark.model.ModelRequest;
import dev.waymark.thread.ThreadOwner;
import dev.waymark.worker.AgentWorker;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import io.temporal.common.WorkflowExecutionHistory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Schedules on the real server. */
@Tag("full")
@Tag("server")
@Timeout(300)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ScheduleServerTest {
    private static final String CANARY = "canary-4711";
    private static final String KEYS = "a:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
    private static final Recurrence RARELY = Recurrence.cron("0 0 29 2 *");
    private static final Instant BEGIN = Instant.parse("2026-12-01T00:00:00Z");
    private static final Instant END = Instant.parse("2036-12-01T00:00:00Z");

    private static DevServer server;

    @BeforeAll
    static void start() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        Assumptions.assumeTrue(binary.isPresent(), "no temporal binary on PATH nor in TEMPORAL_CLI");
        server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    private static Connection connection(Map<String, String> more) {
        Map<String, String> variables = Stream.concat(
                        Map.of("TEMPORAL_ADDRESS", server.address()).entrySet().stream(), more.entrySet().stream())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        return Connection.of(variables, Optional.empty());
    }

    /** Asks for the day if the message is "Ask"; ends the turn otherwise. */
    private static Reply reply(ModelRequest request) {
        Message last = request.messages().get(request.messages().size() - 1);
        return last.text().equals("Ask")
                ? Reply.of(new Part.ToolUse("tu_1", "ask_user", Json.of(Map.of("question", "Which day?"))))
                : Reply.of(new Part.Text("Done, " + CANARY + "."));
    }

    private static AgentWorker worker(Connection connection, String queue) {
        AgentWorker worker = AgentWorker.on(connection)
                .taskQueue(queue)
                .agents(AgentSpec.of("clerk", "fake:model", BuiltInTools.askUser()))
                .provider("fake", ScheduleServerTest::reply)
                .build();
        worker.start();
        return worker;
    }

    private static NewSchedule schedule(String name, String message) {
        return NewSchedule.of(name, Prompt.of("clerk", message), RARELY);
    }

    @Test
    void schedule_dueTimes_startOneThreadEachThatCloses() throws Exception {
        try (Connection connection = connection(Map.of());
                AgentWorker worker = worker(connection, "ticking");
                AgentClient client = AgentClient.on(connection(Map.of()), "ticking")) {
            AgentSchedule created = client.schedules()
                    .create(NewSchedule.of(
                                    "ticking",
                                    Prompt.of("clerk", "Go").withMaxIterations(3),
                                    Recurrence.every(Duration.ofSeconds(2)))
                            .ownedBy(Optional.of(ThreadOwner.ofGroup("night"))));
            assertThat(created.agent()).isEqualTo("clerk");
            assertThat(created.message()).contains("Go");
            assertThat(created.starts().next()).isNotEmpty().isSorted();

            List<AgentSchedule.Run> runs = await().atMost(Duration.ofMinutes(1))
                    .until(
                            () -> client.schedules().get("ticking").starts().runs(),
                            found -> found.size() >= 2
                                    && found.stream()
                                            .skip(1)
                                            .allMatch(run -> run.outcome().equals(Optional.of("complete"))));
            client.schedules().delete("ticking");

            AgentSchedule.Run run = runs.get(1);
            assertThat(run.thread()).isEqualTo(new ScheduledThread("ticking", run.time()).id());
            assertThat(run.time().getEpochSecond() % 2).isZero();
            assertThat(client.lists().owner(run.thread())).contains(ThreadOwner.ofGroup("night"));
            assertThat(client.inspector().verify(run.thread()).agrees()).isTrue();
            assertThat(connection
                            .client()
                            .fetchHistory(run.thread())
                            .getEvents()
                            .get(0)
                            .getWorkflowExecutionStartedEventAttributes()
                            .getPriority()
                            .getFairnessKey())
                    .startsWith("g-");
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(complete(client)).anySatisfy(thread -> {
                        assertThat(thread.thread()).isEqualTo(run.thread());
                        assertThat(thread.schedule()).contains("ticking");
                        assertThat(thread.open()).isFalse();
                    }));
        }
    }

    /** Lists by search attributes, which a thread has only if it was started with them. */
    private static List<ThreadSummary> complete(AgentClient client) {
        return client.lists()
                .threads(
                        new ThreadPageRequest(
                                100, Optional.empty(), false, Optional.of("complete"), Optional.of("clerk")),
                        owner -> true,
                        Progress.NONE)
                .threads();
    }

    /**
     * The server copies the result of a thread into the start of the next one, encrypted for the earlier one. Runs last,
     * because the other tests list all schedules and threads of the server, and have no keys.
     */
    @Test
    @Order(Integer.MAX_VALUE)
    void schedule_withEncryption_startsReadableThreads() throws Exception {
        Map<String, String> keys = Map.of("WAYMARK_CODEC_KEYS", KEYS);
        try (Connection ofWorker = connection(keys);
                AgentWorker worker = worker(ofWorker, "sealed");
                Connection plain = connection(Map.of());
                AgentClient client = AgentClient.on(connection(keys), "sealed")) {
            Schedules schedules = client.schedules();
            schedules.create(schedule("sealed", "Go, " + CANARY));
            String first = started(schedules.trigger("sealed"));
            client.turn(first).await();
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> schedules.get("sealed").starts().running().isEmpty());
            Thread.sleep(1_100); // The names of threads have the time in seconds.
            String second = started(schedules.trigger("sealed"));
            client.turn(second).await();

            assertThat(second).isNotEqualTo(first);
            assertThat(client.status(second).status()).isEqualTo("complete");
            assertThat(client.inspector().verify(second).agrees()).isTrue();
            assertThat(schedules.get("sealed").message()).contains("Go, " + CANARY);
            for (String workflow : List.of(first, second, "temporal-sys-scheduler:sealed")) {
                WorkflowExecutionHistory stored = plain.client().fetchHistory(workflow);
                assertThat(stored.toJson(false)).as(workflow).doesNotContain(CANARY);
                assertThat(stored.getEvents().toString()).as(workflow).doesNotContain(CANARY);
            }
            assertThatThrownBy(() -> AgentClient.on(plain, "sealed").schedules().get("sealed"))
                    .isInstanceOf(WaymarkException.Refused.class)
                    .hasMessageContaining("the schedule is encrypted and cannot be read");
        }
    }

    private static String started(ScheduleTrigger trigger) {
        assertThat(trigger.result()).isEqualTo(ScheduleTrigger.Result.STARTED);
        return trigger.thread().orElseThrow();
    }

    @ParameterizedTest
    @EnumSource(OverlapPolicy.class)
    void trigger_whileAThreadIsOpen_followsTheOverlapPolicy(OverlapPolicy policy) throws Exception {
        String name = "overlap-" + policy.wireName();
        try (Connection connection = connection(Map.of());
                AgentWorker worker = worker(connection, name);
                AgentClient client = AgentClient.on(connection(Map.of()), name)) {
            Schedules schedules = client.schedules();
            schedules.create(schedule(name, "Ask").withOverlap(policy));
            String open = started(schedules.trigger(name));
            client.turn(open).await();
            Thread.sleep(1_100);

            ScheduleTrigger second = schedules.trigger(name);

            switch (policy) {
                case SKIP -> {
                    assertThat(second)
                            .isEqualTo(new ScheduleTrigger(ScheduleTrigger.Result.SKIPPED, Optional.of(open)));
                    assertThat(schedules.get(name).starts().skipped()).isEqualTo(1);
                }
                case BUFFER -> {
                    assertThat(second)
                            .isEqualTo(new ScheduleTrigger(ScheduleTrigger.Result.WAITING, Optional.of(open)));
                    client.answer(open, "Friday").await();
                    await().atMost(Duration.ofMinutes(1))
                            .until(() -> schedules.get(name).starts().started() == 2);
                }
                case CANCEL -> {
                    await().atMost(Duration.ofMinutes(1))
                            .until(() -> schedules.get(name).starts().started() == 2);
                    assertThat(client.timeline(open).ending()).isPresent();
                }
                case ALLOW -> assertThat(started(second)).isNotEqualTo(open);
            }
            schedules.delete(name);
        }
    }

    @Test
    void schedule_pausedAndResumed_keepsItsSettings() throws Exception {
        try (AgentClient client = AgentClient.on(connection(Map.of()), "paused")) {
            Schedules schedules = client.schedules();
            NewSchedule wanted = NewSchedule.of(
                            "paused",
                            Prompt.of("clerk", "Go"),
                            Recurrence.calendar(Map.of("hour", "9-17/2", "dayOfWeek", "MON-FRI")))
                    .withTimezone("Europe/Berlin")
                    .withOverlap(OverlapPolicy.BUFFER)
                    .withJitter(Duration.ofSeconds(30));
            AgentSchedule created = schedules.create(wanted);
            assertThat(created.timing())
                    .isEqualTo(new AgentSchedule.Timing(
                            Optional.of(wanted.recurrence()),
                            "Europe/Berlin",
                            Optional.of(OverlapPolicy.BUFFER),
                            Duration.ofSeconds(30)));

            schedules.pause("paused", Optional.of("No invoices"));
            AgentSchedule paused = schedules.get("paused");
            assertThat(paused.paused()).isTrue();
            assertThat(paused.note()).contains("No invoices");
            assertThat(paused.starts().next()).isEmpty();

            assertThat(schedules.create(wanted).paused()).isTrue();
            assertThatThrownBy(() -> schedules.create(wanted.withOverlap(OverlapPolicy.ALLOW)))
                    .isInstanceOfSatisfying(
                            WaymarkException.Refused.class,
                            refused -> assertThat(refused.type()).isEqualTo(ProblemType.KEY_REUSED));
            AgentSchedule replaced =
                    schedules.create(wanted.withOverlap(OverlapPolicy.ALLOW).replacingExisting());
            assertThat(replaced.timing().overlap()).contains(OverlapPolicy.ALLOW);
            assertThat(replaced.paused()).isTrue();

            schedules.resume("paused");
            assertThat(schedules.get("paused").starts().next()).isNotEmpty();
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(names(schedules)).contains("paused"));

            schedules.delete("paused");
            assertThatThrownBy(() -> schedules.get("paused"))
                    .isInstanceOf(WaymarkException.NotFound.class)
                    .hasMessage("no such schedule: paused");
            assertThatThrownBy(() -> schedules.delete("paused")).isInstanceOf(WaymarkException.NotFound.class);
        }
    }

    private static List<String> names(Schedules schedules) {
        Stream.Builder<String> names = Stream.builder();
        Optional<String> after = Optional.empty();
        do {
            SchedulePage page = schedules.page(1, after);
            page.schedules().forEach(schedule -> names.add(schedule.name()));
            after = page.next();
        } while (after.isPresent());
        return names.build().toList();
    }

    @Test
    void backfill_startsOneThreadForEachTime() throws Exception {
        try (Connection connection = connection(Map.of());
                AgentWorker worker = worker(connection, "late");
                AgentClient client = AgentClient.on(connection(Map.of()), "late")) {
            Schedules schedules = client.schedules();
            schedules.create(NewSchedule.of("late", Prompt.of("clerk", "Go"), Recurrence.cron("0 * * * *")));
            Instant last = Instant.now().truncatedTo(ChronoUnit.HOURS).minus(1, ChronoUnit.DAYS);
            Instant first = last.minus(2, ChronoUnit.HOURS);

            assertThat(schedules.backfill("late", first, last))
                    .containsExactly(first, first.plus(1, ChronoUnit.HOURS), last);

            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(
                                    schedules.get("late").starts().runs())
                            .extracting(AgentSchedule.Run::time, AgentSchedule.Run::outcome)
                            .containsExactly(
                                    tuple(last, Optional.of("complete")),
                                    tuple(first.plus(1, ChronoUnit.HOURS), Optional.of("complete")),
                                    tuple(first, Optional.of("complete"))));
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThatThrownBy(() -> schedules.backfill("late", last, last.plusSeconds(1)))
                            .hasMessage("the schedule has already started a thread for one of these times: "
                                    + new ScheduledThread("late", last).id()));
            assertThatThrownBy(() -> schedules.backfill("late", last.plusSeconds(1), last.plusSeconds(2)))
                    .hasMessageContaining("has no times from");
            assertThatThrownBy(() -> schedules.backfill("late", last.minus(10, ChronoUnit.DAYS), last))
                    .hasMessageContaining("has more than 100 times");
            schedules.delete("late");
        }
    }

    @Test
    void create_unsupportedByTemporal_isRefusedWithReason(@TempDir Path keys) throws Exception {
        Map<String, String> threadKeys = Map.of("WAYMARK_CODEC_KEYS", KEYS, "WAYMARK_THREAD_KEYS", "file:" + keys);
        try (AgentClient client = AgentClient.on(connection(threadKeys), "keys")) {
            assertThatThrownBy(() -> client.schedules().create(schedule("keys", "Go")))
                    .hasMessage("a schedule can't start threads with keys of their own: keys");
        }
        try (DevServer memory = DevServer.inMemory(0);
                AgentClient client = AgentClient.connect(memory.address())) {
            assertThatThrownBy(() -> client.schedules().create(schedule("memory", "Go")))
                    .hasMessage("an in-memory server has no schedules");
        }
        try (AgentClient client = AgentClient.on(connection(Map.of()), "odd")) {
            assertThatThrownBy(() -> client.schedules()
                            .create(NewSchedule.of("odd", Prompt.of("clerk", "Go"), Recurrence.cron("0 25 * * *"))))
                    .isInstanceOf(WaymarkException.Refused.class)
                    .hasMessageContaining("Hour");
        }
    }

    /** The file was written by {@code e2e/src/test/cron/times.py} with another library. */
    @Test
    @Timeout(900)
    void cron_fiftyExpressions_matchAnotherLibraryForTenYears() throws Exception {
        List<String[]> expected = lines().map(line -> line.split("\t")).toList();
        assertThat(expected).hasSizeGreaterThanOrEqualTo(50);
        try (AgentClient client = AgentClient.on(connection(Map.of()), "nobody")) {
            for (String[] each : expected) {
                Schedules schedules = client.schedules();
                schedules.create(NewSchedule.of("cron", Prompt.of("clerk", "Go"), Recurrence.cron(each[0]))
                        .withTimezone(each[1])
                        .replacingExisting());
                ZoneRules rules = ZoneId.of(each[1]).getRules();
                List<Instant> times = schedules.times("cron", BEGIN, END, Integer.MAX_VALUE).stream()
                        .filter(time -> !isLeftOut(time, rules))
                        .toList();
                assertThat(times.size() + "\t" + digest(times))
                        .as(each[0] + " in " + each[1])
                        .isEqualTo(each[2] + "\t" + each[3]);
            }
            client.schedules().delete("cron");
        }
    }

    private static boolean isLeftOut(Instant time, ZoneRules rules) {
        int before = rules.getOffset(time.minus(2, ChronoUnit.HOURS)).getTotalSeconds();
        int after = rules.getOffset(time.plus(1, ChronoUnit.HOURS)).getTotalSeconds();
        return before > after && after > 0;
    }

    /** As the guide says about Temporal 1.29. In New York, both occurrences of 1:30 start a thread. */
    @Test
    void cron_inTheRepeatedHour_startsOneThreadEastOfGreenwich() throws Exception {
        try (AgentClient client = AgentClient.on(connection(Map.of()), "nobody")) {
            assertThat(times(client, "30 2 * * *", "Europe/Berlin", "2027-10-30T22:00:00Z"))
                    .containsExactly("2027-10-31T01:30:00Z");
            assertThat(times(client, "30 1 * * *", "America/New_York", "2027-11-07T04:00:00Z"))
                    .containsExactly("2027-11-07T05:30:00Z", "2027-11-07T06:30:00Z");
            assertThat(times(client, "0,30 * * * *", "Europe/Berlin", "2027-10-30T23:00:00Z"))
                    .startsWith(
                            "2027-10-30T23:00:00Z",
                            "2027-10-30T23:30:00Z",
                            "2027-10-31T00:00:00Z",
                            "2027-10-31T01:30:00Z");
            client.schedules().delete("twice");
        }
    }

    private static List<String> times(AgentClient client, String cron, String zone, String from) {
        client.schedules()
                .create(NewSchedule.of("twice", Prompt.of("clerk", "Go"), Recurrence.cron(cron))
                        .withTimezone(zone)
                        .replacingExisting());
        Instant begin = Instant.parse(from);
        return client.schedules().times("twice", begin, begin.plus(5, ChronoUnit.HOURS), 100).stream()
                .map(Instant::toString)
                .toList();
    }

    private static String digest(List<Instant> times) {
        return Sha256.hex(times.stream()
                .map(time -> String.valueOf(time.getEpochSecond()))
                .collect(Collectors.joining("\n")));
    }

    private static Stream<String> lines() {
        try (BufferedReader file = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(ScheduleServerTest.class.getResourceAsStream("/cron-times.tsv")),
                StandardCharsets.UTF_8))) {
            return file.lines().toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @EnableAutoConfiguration
    static class Application {}

    @Test
    void create_agentThatNoWorkerReports_warns() {
        String warning = "no worker has reported an agent nobody: its threads will fail or wait until one has it";

        Command.Done created = Command.at(server.address())
                .run("schedule", "create", "by-command", "--agent", "nobody", "--cron", "0 0 29 2 *", "Hello");
        assertThat(created.exitCode()).as(created.err()).isZero();
        assertThat(created.err()).isEqualTo("warning: " + warning + "\n");

        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        try (ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                // Starting an application removes earlier appenders.
                .initializers(context -> ((Logger) LoggerFactory.getLogger("dev.waymark.spring")).addAppender(log))
                .properties(
                        "waymark.address=" + server.address(),
                        "waymark.schedules.by-setting.agent=nobody",
                        "waymark.schedules.by-setting.message=Hello",
                        "waymark.schedules.by-setting.cron=0 0 29 2 *")
                .run()) {
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(List.copyOf(log.list))
                            .filteredOn(event -> event.getLevel() == Level.WARN)
                            .extracting(ILoggingEvent::getFormattedMessage)
                            .containsExactly("Schedule by-setting: " + warning + "."));
        }
    }
}
