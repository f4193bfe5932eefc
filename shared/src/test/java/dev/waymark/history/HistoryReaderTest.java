package dev.waymark.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import io.temporal.client.WorkflowClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HistoryReaderTest {
    private final ScriptedServer server = new ScriptedServer();
    private final HistoryReader histories = new HistoryReader(WorkflowClient.newInstance(server.stubs()));

    @AfterEach
    void stopServer() {
        server.close();
    }

    @Test
    void read_resetMeanwhile_returnsTheNewRun() {
        server.run("run-1", begun().terminated()).run("run-2", begun()).newestIs("run-1", "run-2");

        Timeline timeline = histories.read("t").orElseThrow();

        assertThat(timeline.runId()).isEqualTo("run-2");
        assertThat(timeline.ending()).isEmpty();
    }

    @Test
    void read_resetTwiceMeanwhile_returnsTheNewestRun() {
        server.run("run-1", begun().terminated())
                .run("run-2", begun().terminated())
                .run("run-3", begun())
                .newestIs("run-1", "run-2", "run-3");

        assertThat(histories.read("t").orElseThrow().runId()).isEqualTo("run-3");
    }

    @Test
    void read_continuedAsNewMeanwhile_returnsTheNewRun() {
        server.run("run-1", begun().continuedAsNew("run-2"))
                .run("run-2", begun())
                .newestIs("run-1");

        assertThat(histories.read("t").orElseThrow().runId()).isEqualTo("run-2");
    }

    @Test
    void read_terminatedThread_returnsItsEnd() {
        server.run("run-1", begun().terminated()).newestIs("run-1");

        Timeline timeline = histories.read("t").orElseThrow();

        assertThat(timeline.runId()).isEqualTo("run-1");
        assertThat(timeline.ending()).map(RunEnding::kind).contains(RunEnding.Kind.TERMINATED);
    }

    @Test
    void read_runThatAwaitsItsState_returnsThePreviousRunsState_readOnce() {
        WrittenHistory first = begun();
        Conversation last = first.projected().state().orElseThrow();
        StartInput next = StartInput.of("assistant").carrying(CarriedReference.of("run-1", last));
        server.run("run-1", first.continuedAsNew("run-2"))
                .run("run-2", new WrittenHistory().startedAfter("run-1", next).task())
                .newestIs("run-2");

        Timeline timeline = histories.read("t").orElseThrow();

        assertThat(timeline.now()).isEqualTo(last);
        assertThat(timeline.moments()).extracting(Moment::runId).containsOnly("run-1");
        assertThat(server.reads("run-1")).isEqualTo(1);
    }

    private static WrittenHistory begun() {
        return new WrittenHistory()
                .started(StartInput.of("assistant").saying(PersonFact.UserSpoke.message("m1", "Hi")))
                .task();
    }
}
