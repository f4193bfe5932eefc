package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.value.Usd;
import dev.waymark.history.RecordedReply;
import dev.waymark.history.ThreadHistory;
import dev.waymark.rehearsal.gate.FileThreads;
import dev.waymark.worker.provider.ModelProviders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RehearsalTest {
    private static Candidate asRecorded(ModelProviders providers) {
        return new Candidate("recorded", Optional.empty(), providers, Map.of(), Optional.empty());
    }

    @TempDir
    Path directory;

    private AnswerStore answers() {
        return new AnswerStore(directory.resolve("answers"), Optional.empty());
    }

    private static RehearsalReport run(Rehearsal rehearsal, RecordedThreads threads) throws Exception {
        return rehearsal.run(threads, Integer.MAX_VALUE, (part, decided) -> {});
    }

    @Test
    @Tag("full")
    void recordedThreads_answeredAsRecorded_areTheSame() throws Exception {
        int all = 0;
        for (RecordedThreads threads : RecordedThreads.all(2)) {
            all += threads.names().size();
            Path own = directory.resolve("group" + all);
            AnswerStore answers = new AnswerStore(own, Optional.empty());
            Spending spending = new Spending(Usd.ZERO);
            RehearsalReport report = run(
                    new Rehearsal(
                            List.of(asRecorded(threads.asRecorded())),
                            RehearsalSettings.DEFAULT,
                            Optional.empty(),
                            answers,
                            spending),
                    threads);

            RehearsalReport.OfCandidate result = report.candidates().get(0);
            assertThat(result.shown().stream().map(Object::toString).limit(3)).isEmpty();
            assertThat(result.same()).isEqualTo(threads.recorded).isEqualTo(result.replies());
            assertThat(result.changes()).isEmpty();
            assertThat(report.isComplete()).isTrue();
        }
        assertThat(all).isGreaterThanOrEqualTo(70);
    }

    @Test
    void secondRun_asksNoModelAndReportsTheSame() throws Exception {
        RecordedThreads threads = RecordedThreads.all(1).get(0);
        Spending spending = new Spending(Usd.ZERO);
        Rehearsal first = new Rehearsal(
                List.of(asRecorded(threads.asRecorded())),
                RehearsalSettings.DEFAULT,
                Optional.empty(),
                answers(),
                spending);
        RehearsalReport report = run(first, threads);

        Rehearsal second = new Rehearsal(
                List.of(asRecorded(threads.of(new FreeModel(request -> {
                    throw new AssertionError("asked again");
                })))),
                RehearsalSettings.DEFAULT,
                Optional.empty(),
                answers(),
                spending);

        assertThat(run(second, threads).toString()).isEqualTo(report.toString());
        assertThat(first.asked()).isPositive();
        assertThat(second.asked()).isZero();
    }

    @Test
    void rehearsalFromAPlace_beginsWithTheDecisionThatLedToIt() throws Exception {
        Path file = Path.of("../worker/src/test/resources/histories/parallel-tools.json");
        Path histories = Files.createDirectory(directory.resolve("histories"));
        Files.copy(file, histories.resolve("thread.json"));
        List<RecordedReply> replies =
                RecordedReply.in(ThreadHistory.parse(Files.readString(file)).timeline());
        assertThat(replies).hasSizeGreaterThan(1);

        for (int i = 0; i < replies.size(); i++) {
            RecordedReply first = replies.get(i);
            for (String place :
                    List.of(first.called().address(), first.replied().address())) {
                assertThat(from(place, histories).replies()).as(place).isEqualTo(replies.size() - i);
            }
        }
        assertThat(from("1", histories).replies()).isEqualTo(replies.size());
        RehearsalReport nowhere = from("nonsense", histories);
        assertThat(nowhere.skipped())
                .containsExactly(new RehearsalReport.Skipped("thread.json", "it has no reply at nonsense or before"));
        assertThat(nowhere.isComplete()).isFalse();
    }

    private RehearsalReport from(String place, Path histories) throws Exception {
        ModelProviders other =
                ModelProviders.of(Map.of("fake", new FreeModel(request -> Reply.of(new Part.Text("Another answer.")))));
        Spending spending = new Spending(Usd.ZERO);
        return new Rehearsal(
                        List.of(asRecorded(other)),
                        RehearsalSettings.DEFAULT.withFrom(Optional.of(place)),
                        Optional.empty(),
                        answers(),
                        spending)
                .run(new FileThreads(histories, thread -> thread), Integer.MAX_VALUE, (part, decided) -> {});
    }

    @Test
    @Tag("full")
    void thousandsOfAnswers_takeLessThanAMinuteInConstantMemory() throws Exception {
        RecordedThreads threads = RecordedThreads.all(1).get(0);
        RehearsalSettings settings = RehearsalSettings.DEFAULT.withVotes(20);
        List<Long> heap = new ArrayList<>();
        Spending spending = new Spending(Usd.ZERO);
        Rehearsal rehearsal = new Rehearsal(
                List.of(asRecorded(threads.asRecorded())), settings, Optional.empty(), answers(), spending);
        long began = System.nanoTime();

        rehearsal.run(threads, Integer.MAX_VALUE, (part, decided) -> {
            if (part >= 0.25 * (heap.size() + 1)) {
                System.gc();
                heap.add(Runtime.getRuntime().totalMemory()
                        - Runtime.getRuntime().freeMemory());
            }
        });

        Duration took = Duration.ofNanos(System.nanoTime() - began);
        System.out.println(rehearsal.asked() + " answers in " + took + ", heap at each quarter " + heap);
        assertThat(rehearsal.asked()).isGreaterThan(1_000);
        assertThat(took).isLessThan(Duration.ofSeconds(60));
        assertThat(heap.get(heap.size() - 1)).isLessThan(heap.get(0) + 16 * 1024 * 1024);
    }
}
