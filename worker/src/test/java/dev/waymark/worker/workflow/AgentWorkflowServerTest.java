package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
@Tag("full")
class AgentWorkflowServerTest extends AgentWorkflowCases {
    private static DevServer server;
    private static Connection connection;

    @BeforeAll
    static void connect() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary: tests on the real server are skipped");
        server = DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
        connection = Connection.to(server.address());
    }

    @AfterAll
    static void disconnect() {
        if (server != null) {
            connection.close();
            server.close();
        }
    }

    @Override
    Connection connection() {
        return connection;
    }

    /**
     * Only with the real server. The in-memory server rejects a task that cancels an activity that has just ended; the
     * worker gets another task only because of {@code LateCancellations}.
     */
    @Test
    void messagesAndStops_inOneTask_agree() {
        try (WorkflowRig rig = new WorkflowRig(connection, AgentWorkflowCases::echo)) {
            String thread = rig.start(StartInput.of("a"));
            rig.await(thread, now -> now.policy().isPresent());
            for (int i = 0; i < 20; i++) {
                rig.stub(thread).signal(SignalNames.SAY, "Hello " + i);
                rig.stub(thread).signal(SignalNames.STOP);
            }
            Conversation state = rig.await(thread, now -> now.counters().facts() >= 40 && now.isSettled());
            assertThat(state.counters().steps()).isPositive();
        }
    }
}
