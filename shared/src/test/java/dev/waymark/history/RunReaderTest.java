package dev.waymark.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.message.SayPayload;
import dev.waymark.contract.thread.StartInput;
import io.temporal.client.WorkflowClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RunReaderTest {
    private static final WrittenHistory BEGUN = new WrittenHistory()
            .started(StartInput.of("assistant").saying(SayPayload.message("m1", "Hi")))
            .task();
    private static final AgentSpec AGENT = AgentSpec.of("assistant", "test:none");
    private static final RunReader.Called CALLED =
            new RunReader.Called(BEGUN.projected().state().orElseThrow(), AGENT);

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
    void note_ofTheNextRun_replacesThatOfThePreviousOne() {
        reader.note("t", "run-1", CALLED);
        reader.note("t", "run-2", CALLED);

        assertThat(reader.setting("t", "run-2").agent()).isEqualTo(AGENT);
        assertThatThrownBy(() -> reader.setting("t", "run-1")).hasMessage("the run has no agent yet");
    }
}
