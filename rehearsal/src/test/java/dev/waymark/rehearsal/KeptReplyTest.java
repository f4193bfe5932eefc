package dev.waymark.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.history.HistoryAudit;
import dev.waymark.history.RecordedReply;
import dev.waymark.history.ThreadHistory;
import dev.waymark.timeline.Timeline;
import dev.waymark.worker.workflow.AgentReplay;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads that end with a reply, and the checks beside them. */
class KeptReplyTest {
    @TempDir
    Path directory;

    /** Includes threads with several runs, summaries, subagents, and calls that ran with their model call. */
    @Test
    @Tag("full")
    void everyDecision_keptAsTheLastOfItsFile_hasTheSameStateAndReplays() throws Exception {
        int all = 0;
        try (AgentReplay replay = new AgentReplay()) {
            for (RecordedThreads threads : RecordedThreads.all(1)) {
                for (String name : threads.names()) {
                    ThreadHistory thread = threads.read(name).orElseThrow();
                    for (RecordedReply past : RecordedReply.in(thread.timeline())) {
                        ThreadHistory kept =
                                ThreadHistory.parse(thread.upTo(past).document().toString());

                        List<RecordedReply> replies = RecordedReply.in(kept.timeline());
                        RecordedReply last = replies.get(replies.size() - 1);
                        assertThat(last.called().address())
                                .as(name)
                                .isEqualTo(past.called().address());
                        assertThat(last.state()).as(name).isEqualTo(past.state());
                        assertThat(last.reply()).as(name).isEqualTo(past.reply());
                        assertThat(new HistoryAudit(replay).audit(kept).findings())
                                .as(name)
                                .isEmpty();
                        all++;
                    }
                }
            }
        }
        assertThat(all).isGreaterThan(90);
    }

    @Test
    void placeInAThread_namesTheDecisionThatLedToIt() throws Exception {
        ThreadHistory thread = ThreadHistory.parse(
                Files.readString(Path.of("../worker/src/test/resources/histories/parallel-tools.json")));
        Timeline timeline = thread.timeline();
        RecordedReply first = RecordedReply.in(timeline).get(0);
        RecordedReply second = RecordedReply.in(timeline).get(1);

        assertThat(RecordedReply.at(timeline, "recorded/e1")).isEmpty();
        assertThat(RecordedReply.at(timeline, first.called().address())).contains(first);
        assertThat(RecordedReply.at(timeline, first.replied().address())).contains(first);
        assertThat(RecordedReply.at(timeline, "1")).contains(first);
        assertThat(RecordedReply.at(timeline, second.called().address())).contains(second);
        assertThat(RecordedReply.at(timeline, timeline.address())).contains(second);
        assertThat(RecordedReply.at(timeline, "nonsense")).isEmpty();
    }

    @Test
    void checks_withoutTheirThread_areAProblem() throws Exception {
        Files.writeString(directory.resolve("trip.checks.yaml"), "checks: [{ called: x }]");

        assertThatThrownBy(() -> Check.besideThreads(directory)).hasMessageContaining("there is no trip.json");
        Files.writeString(directory.resolve("trip.json"), "{}");
        Files.writeString(directory.resolve("other.json"), "{}");

        Map<String, List<Check>> checks = Check.besideThreads(directory);
        assertThat(checks).containsOnlyKeys("trip.json");
        assertThat(checks.get("trip.json")).extracting(Check::words).containsExactly("called: x");
    }

    @Test
    void invalidCheck_isAProblem() throws Exception {
        Files.writeString(directory.resolve("trip.json"), "{}");
        Files.writeString(directory.resolve("trip.checks.yaml"), "checks: [{ as_recorded: false }]");

        assertThatThrownBy(() -> Check.besideThreads(directory)).hasMessageContaining("expected true");
    }
}
