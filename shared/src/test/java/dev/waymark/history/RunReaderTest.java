package dev.waymark.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.work.AgentInput;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.state.ThreadIdentity;
import io.temporal.client.WorkflowClient;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RunReaderTest {
    private static final WrittenHistory BEGUN = new WrittenHistory()
            .started(StartInput.of("assistant").saying(PersonFact.UserSpoke.message("m1", "Hi")))
            .task();
    private static final AgentSpec AGENT = AgentSpec.of("assistant", "test:none");
    private static final WrittenHistory WITH_AGENT = new WrittenHistory()
            .started(StartInput.of("assistant").saying(PersonFact.UserSpoke.message("m1", "Hi")))
            .task()
            .activityScheduled(WireNames.AGENT_ACTIVITY, new AgentInput("assistant", ThreadIdentity.RULES))
            .activityCompleted(AGENT)
            .task();
    private static final RunReader.Called CALLED = new RunReader.Called(
            BEGUN.projected().state().orElseThrow(), AGENT, TraceIds.of("run-1", Optional.empty()));

    private final ScriptedServer server = new ScriptedServer();
    private final RunReader reader = new RunReader(new HistoryReader(WorkflowClient.newInstance(server.stubs())), 2);

    @BeforeEach
    void beginRun() {
        server.run("run-1", BEGUN).newestIs("run-1");
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    @Test
    void note_ofMoreRunsThanAllowed_dropsTheEldest() {
        for (int run = 1; run <= 3; run++) {
            reader.note("t-" + run, "run-" + run, CALLED);
        }

        assertThat(reader.setting("t-2", "run-2").agent()).isEqualTo(AGENT);
        assertThat(reader.setting("t-3", "run-3").agent()).isEqualTo(AGENT);
        assertThatThrownBy(() -> reader.setting("t-1", "run-1")).hasMessage("the run has no agent yet");
        assertThat(server.reads("run-1")).isEqualTo(1);
    }

    @Test
    void note_ofTheNextRun_replacesThePreviousNote() {
        reader.note("t", "run-1", CALLED);
        reader.note("t", "run-2", CALLED);

        assertThat(reader.setting("t", "run-2").agent()).isEqualTo(AGENT);
        assertThatThrownBy(() -> reader.setting("t", "run-1")).hasMessage("the run has no agent yet");
    }

    @Test
    void read_ofTheSameRun_usesTheCache() {
        server.run("run-2", WITH_AGENT);
        reader.setting("t", "run-2");
        reader.setting("t", "run-2");

        assertThat(server.reads("run-2")).isEqualTo(1);
    }

    @Test
    void read_ofTheNextRun_dropsThePreviousRun() {
        server.run("run-2", WITH_AGENT).run("run-3", WITH_AGENT);
        reader.setting("t", "run-2");
        reader.setting("t", "run-3");
        reader.setting("t", "run-2");

        assertThat(server.reads("run-2")).isEqualTo(2);
    }

    @Test
    void note_ofTheNextRun_dropsThePreviousRun() {
        server.run("run-2", WITH_AGENT);
        reader.setting("t", "run-2");
        reader.note("t", "run-3", CALLED);
        reader.setting("t", "run-2");

        assertThat(server.reads("run-2")).isEqualTo(2);
    }
}
