package dev.waymark.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.AgentSpec;
import dev.waymark.contract.message.SayPayload;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import io.temporal.client.WorkflowClient;
import org.junit.jupiter.api.Test;

class RunReaderTest {
    @Test
    void note_ofMoreRunsThanAllowed_dropsTheEldest() {
        WrittenHistory begun = new WrittenHistory()
                .started(StartInput.of("assistant").saying(SayPayload.message("m1", "Hi")))
                .task();
        Conversation state = begun.projected().state().orElseThrow();
        AgentSpec agent = AgentSpec.of("assistant", "test:none");
        try (ScriptedServer server = new ScriptedServer()) {
            server.run("run-1", begun).newestIs("run-1");
            RunReader reader = new RunReader(new HistoryReader(WorkflowClient.newInstance(server.stubs())), 2);
            for (int run = 1; run <= 3; run++) {
                reader.note("t-" + run, "run-" + run, new RunReader.Called(state, agent));
            }

            assertThat(reader.setting("t-2", "run-2").agent()).isEqualTo(agent);
            assertThat(reader.setting("t-3", "run-3").agent()).isEqualTo(agent);
            assertThatThrownBy(() -> reader.setting("t-1", "run-1")).hasMessage("the run has no agent yet");
            assertThat(server.reads("run-1")).isEqualTo(1);
        }
    }

    @Test
    void note_ofTheNextRun_replacesThatOfThePreviousOne() {
        WrittenHistory begun = new WrittenHistory()
                .started(StartInput.of("assistant").saying(SayPayload.message("m1", "Hi")))
                .task();
        Conversation state = begun.projected().state().orElseThrow();
        AgentSpec agent = AgentSpec.of("assistant", "test:none");
        try (ScriptedServer server = new ScriptedServer()) {
            server.run("run-1", begun).newestIs("run-1");
            RunReader reader = new RunReader(new HistoryReader(WorkflowClient.newInstance(server.stubs())), 2);
            reader.note("t", "run-1", new RunReader.Called(state, agent));
            reader.note("t", "run-2", new RunReader.Called(state, agent));

            assertThat(reader.setting("t", "run-2").agent()).isEqualTo(agent);
            assertThatThrownBy(() -> reader.setting("t", "run-1")).hasMessage("the run has no agent yet");
        }
    }
}
