package dev.waymark.client.saving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.waymark.client.RecordingSaver;
import dev.waymark.client.save.SaveInterval;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.value.Json;
import dev.waymark.fixtures.ThreadFixture;
import dev.waymark.history.Projector;
import dev.waymark.saver.SaverException;
import dev.waymark.timeline.Moment;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CheckpointWriterTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final RecordingSaver saver = new RecordingSaver();
    private final List<String> told = new CopyOnWriteArrayList<>();
    private CheckpointWriter writer = writer(SaveInterval.STEP);

    private CheckpointWriter writer(SaveInterval cadence) {
        return new CheckpointWriter(
                SaveOptions.in(saver).withCadence(cadence),
                saved -> told.add(
                        saved.thread() + "/" + saved.moment().state().counters().steps()),
                problem -> told.add(problem.getMessage()));
    }

    @AfterEach
    void closeKeeper() {
        saver.letAllThrough();
        writer.close();
    }

    @Test
    void offered_isSavedAndReportedOnce() {
        writer.offer(at("t", 1));

        assertThat(writer.flush(LONG)).isEmpty();
        assertThat(saver.steps()).containsExactly("t/1");
        assertThat(told).containsExactly("t/1");
        assertThat(saver.load("t").orElseThrow().field("step")).isEqualTo(1L);
    }

    @Test
    void offered_toASlowSaver_onlyTheNewestIsSaved() {
        saver.stopping();
        writer.offer(at("t", 1));
        await().atMost(LONG).until(() -> saver.attempts() == 1);
        for (int step = 2; step <= 50; step++) {
            writer.offer(at("t", step));
        }
        saver.letAllThrough();

        assertThat(writer.flush(LONG)).isEmpty();
        assertThat(saver.steps()).containsExactly("t/1", "t/50");
        assertThat(told).isEqualTo(saver.steps());
    }

    @Test
    void offered_byManyThreads_savesEachInTurn() {
        saver.stopping();
        writer.offer(at("busy", 1));
        await().atMost(LONG).until(() -> saver.attempts() == 1);
        writer.offer(at("other", 1));
        writer.offer(at("busy", 2));
        saver.letAllThrough();

        assertThat(writer.flush(LONG)).isEmpty();
        assertThat(saver.steps()).containsExactly("busy/1", "other/1", "busy/2");
    }

    @Test
    void flush_saverThatHangs_endsInTimeAndNamesWhatIsNotSaved() {
        saver.stopping();
        writer.offer(at("t", 1));

        assertThat(writer.flush(Duration.ofMillis(50))).containsExactly("t");
        assertThat(saver.steps()).isEmpty();
    }

    @Test
    void failedSave_isReportedOnceAndRetriedWithTheNewest() {
        saver.failing(disk("/a"), disk("/b"), disk("/c"));
        writer.offer(at("t", 1));
        await().atMost(LONG).until(() -> saver.attempts() > 1);
        writer.offer(at("t", 2));

        assertThat(writer.flush(LONG)).isEmpty();
        assertThat(saver.load("t").orElseThrow().field("step")).isEqualTo(2L);
        assertThat(told.get(0)).startsWith("no room: /a");
        assertThat(told).filteredOn(line -> line.startsWith("no room")).hasSize(1);
    }

    @Test
    void saveFailedInAnotherWay_isReportedToo() {
        saver.failing(disk("/a"), new IllegalStateException("a bug"), disk("/b"), new IllegalStateException("a bug"));
        writer.offer(at("t", 1));

        assertThat(writer.flush(LONG)).isEmpty();
        assertThat(told)
                .containsExactly(
                        "no room: /a (IOException: No space left)",
                        "the checkpoint can't be saved: t (IllegalStateException: a bug)",
                        "t/1");
    }

    @Test
    void save_corruptEntry_isReportedAndDelaysNoOtherThread() {
        saver.failing(SaverException.corrupt("t.json", "not JSON"));
        writer.offer(at("t", 1));
        await().atMost(LONG).until(() -> !told.isEmpty());
        writer.offer(at("u", 1));

        assertThat(writer.flush(LONG)).isSubsetOf("t");
        assertThat(saver.steps()).contains("u/1");
        assertThat(told).first().asString().contains("t.json (not JSON)");
    }

    @Test
    void offered_alreadySaved_isNeitherSavedNorReportedAgain() {
        writer.offer(at("t", 3));
        writer.flush(LONG);
        writer.close();
        writer = writer(SaveInterval.STEP);

        writer.offer(at("t", 2));
        writer.flush(LONG);
        writer.offer(at("t", 3));
        writer.flush(LONG);
        writer.offer(at("t", 4));
        writer.flush(LONG);

        assertThat(saver.steps()).containsExactly("t/3", "t/4");
        assertThat(told).isEqualTo(saver.steps());
    }

    @Test
    void timeInterval_postponesAllButTheFirst_untilTheFlush() {
        writer.close();
        writer = writer(SaveInterval.every(Duration.ofHours(1)));
        writer.offer(at("t", 1));
        writer.offer(at("barrier-1", 1));
        await().atMost(LONG).until(() -> saver.steps().size() == 2);
        writer.offer(at("t", 2));
        writer.offer(at("t", 3));
        writer.offer(at("barrier-2", 1));
        await().atMost(LONG).until(() -> saver.steps().contains("barrier-2/1"));

        assertThat(saver.steps()).containsExactly("t/1", "barrier-1/1", "barrier-2/1");
        assertThat(writer.flush(LONG)).isEmpty();
        assertThat(saver.steps()).containsExactly("t/1", "barrier-1/1", "barrier-2/1", "t/3");
    }

    @Test
    void timeInterval_passed_savesTheNewest() {
        writer.close();
        writer = writer(SaveInterval.every(Duration.ofMillis(50)));
        writer.offer(at("t", 1));
        await().atMost(LONG).until(() -> saver.steps().size() == 1);
        writer.offer(at("t", 2));

        await().atMost(LONG).until(() -> saver.steps().equals(List.of("t/1", "t/2")));
    }

    @Test
    void last_ofAThread_ignoresTheInterval() {
        writer.close();
        writer = writer(SaveInterval.every(Duration.ofHours(1)));
        writer.offer(at("t", 1));
        await().atMost(LONG).until(() -> saver.steps().size() == 1);
        writer.offer(at("t", 2));
        writer.last("t");

        await().atMost(LONG).until(() -> saver.steps().equals(List.of("t/1", "t/2")));
    }

    @Test
    void steps_ofATurnWithAQuestion_saveEachVersionOnce() {
        ThreadFixture fixture = asked().answers("tu_1", "Friday").callsModel().replies("Booked.");

        assertThat(saved(fixture, SaveInterval.STEP)).containsExactly(1, 1, 2);
        assertThat(saved(fixture, SaveInterval.TURN)).containsExactly(1, 2);
    }

    @Test
    void moments_readAtOnce_saveOnlyTheNewestVersion() {
        ThreadFixture fixture = asked().answers("tu_1", "Friday")
                .callsModel()
                .replies("Booked.")
                .says("m2", "More");
        CheckpointFeeder feeder = new CheckpointFeeder("t1", writer, SaveInterval.STEP);

        feeder.follow(fixture.moments(), run());
        writer.flush(LONG);

        assertThat(saver.steps()).containsExactly("t1/2");
    }

    @Test
    void threadThatEndsDuringATurn_isSavedAtItsEnd() {
        ThreadFixture fixture = asked().answers("tu_1", "Friday");
        CheckpointFeeder feeder = new CheckpointFeeder("t1", writer, SaveInterval.TURN);
        feeder.follow(fixture.moments(), run());
        writer.flush(LONG);
        assertThat(saver.steps()).isEmpty();

        feeder.end();
        writer.flush(LONG);

        assertThat(saver.steps()).containsExactly("t1/1");
    }

    /** A program that reads the saver sees a running call, but no additional version. */
    @Test
    void runningCall_isSavedBetweenVersions_andNotReported() {
        ThreadFixture fixture = charging();
        CheckpointFeeder feeder = new CheckpointFeeder("t1", writer, SaveInterval.STEP);

        feeder.follow(fixture.moments(), run());
        writer.flush(LONG);

        assertThat(saver.sessions()).singleElement().satisfies(session -> {
            assertThat(session.field("checkpoint")).isNull();
            assertThat(callsOf(session)).containsExactly("tu_1 issued");
        });
        assertThat(told).isEmpty();

        int seen = fixture.moments().size();
        fixture.then(new ToolFact.ToolFinished("tu_1", 1, "charged", false))
                .callsModel()
                .replies("Charged.");
        feeder.follow(fixture.moments().subList(seen, fixture.moments().size()), run());
        writer.flush(LONG);

        assertThat(saver.sessions()).hasSize(2).last().satisfies(session -> {
            assertThat(session.field("checkpoint")).isNotNull();
            assertThat(callsOf(session)).containsExactly("tu_1 completed");
        });
        assertThat(told).containsExactly("t1/2");
    }

    @Test
    void callThatWaitsForAPerson_isNotLogged() {
        CheckpointFeeder feeder = new CheckpointFeeder("t1", writer, SaveInterval.STEP);

        feeder.follow(asked().moments(), run());
        writer.flush(LONG);

        assertThat(saver.sessions())
                .singleElement()
                .satisfies(session -> assertThat(callsOf(session)).isEmpty());
    }

    @Test
    void runningCall_offeredWhileAVersionWaits_isSavedAfterIt() {
        saver.stopping();
        writer.offer(at("other", 1));
        await().atMost(LONG).until(() -> saver.attempts() == 1);
        writer.offer(at("t", 1));
        writer.offerBetweenVersions(at("t", 2));
        saver.letAllThrough();

        assertThat(writer.flush(LONG)).isEmpty();
        assertThat(saver.steps()).containsExactly("other/1", "t/1", "t/2");
        assertThat(told).containsExactly("other/1", "t/1");
    }

    @Test
    void runningCall_withAnIntervalOfTurns_isNotSaved() {
        ThreadFixture fixture = charging();
        CheckpointFeeder feeder = new CheckpointFeeder("t1", writer, SaveInterval.TURN);

        feeder.follow(fixture.moments(), run());

        assertThat(writer.flush(LONG)).isEmpty();
        assertThat(saver.steps()).isEmpty();
    }

    private static ThreadFixture charging() {
        return ThreadFixture.resolved(
                        new AgentPolicy("assistant", 10, Map.of("charge_card", AgentPolicy.Executor.ACTIVITY)))
                .says("m1", "Charge")
                .callsModel()
                .charges("tu_1", 500)
                .then(new ToolFact.ToolDispatched("tu_1", 1));
    }

    private static List<String> callsOf(Json session) {
        return ((List<?>) Objects.requireNonNull(session.field("tool_calls")))
                .stream()
                        .map(Json::of)
                        .map(call -> call.field("call_id") + " " + call.field("status"))
                        .toList();
    }

    private static ThreadFixture asked() {
        return ThreadFixture.resolved("ask_user")
                .says("m1", "Book")
                .callsModel()
                .asks("tu_1", "Which day?");
    }

    /** Returns the steps that are saved if the thread is read moment by moment. */
    private List<Integer> saved(ThreadFixture fixture, SaveInterval cadence) {
        saver.delete("t1");
        told.clear();
        CheckpointWriter own = writer(cadence);
        CheckpointFeeder feeder = new CheckpointFeeder("t1", own, cadence);
        for (Moment moment : fixture.moments()) {
            feeder.follow(List.of(moment), run());
            own.flush(LONG);
        }
        own.close();
        return told.stream().map(line -> Integer.parseInt(line.substring(3))).toList();
    }

    private static Projector run() {
        return new Projector("run-1", moment -> {});
    }

    /** Returns a thread after this many turns of one step each. */
    private static ThreadSnapshot at(String thread, int steps) {
        ThreadFixture fixture = ThreadFixture.resolved();
        for (int step = 1; step <= steps; step++) {
            fixture.says("m" + step, "More").callsModel().replies("Reply " + step);
        }
        Moment newest = fixture.moments().get(fixture.moments().size() - 1);
        return new ThreadSnapshot(thread, newest, Optional.empty(), Optional.empty(), "run-1");
    }

    private static SaverException disk(String place) {
        return SaverException.failed("no room", place, new IOException("No space left"));
    }
}
