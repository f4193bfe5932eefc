package dev.waymark.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.connect.Connection;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.e2e.product.Agents;
import dev.waymark.e2e.product.Command;
import dev.waymark.e2e.product.Command.Done;
import dev.waymark.e2e.product.Dev;
import io.temporal.client.WorkflowOptions;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads that this version cannot read, beside one that it can. What the commands print names no Java class. */
@Tag("full")
class ForeignThreadsTest {
    private static Dev dev;
    private static Command waymark;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        dev = Dev.inMemory(new Agents(directory).greeter().directory());
        waymark = Command.warmAt(dev.address());
        assertThat(waymark.run("run", "--agent", "greeter", "--thread", "known", "--volatile", "Hi")
                        .exitCode())
                .isZero();
        try (Connection connection = Connection.to(dev.address())) {
            start(connection, "newer", Map.of("agent", "greeter", "rules", ThreadIdentity.RULES + 1));
            start(connection, "foreign", "an input of another program");
        }
    }

    private static void start(Connection connection, String thread, Object input) {
        connection
                .client()
                .newUntypedWorkflowStub(
                        WireNames.WORKFLOW_TYPE,
                        WorkflowOptions.newBuilder()
                                .setTaskQueue(WireNames.TASK_QUEUE)
                                .setWorkflowId(thread)
                                .build())
                .start(input);
    }

    @AfterAll
    static void stop() {
        if (dev != null) {
            dev.close();
        }
    }

    private static void assertRefused(String thread, String why) {
        Done done = waymark.run("show", thread);

        assertThat(done.exitCode()).isEqualTo(2);
        assertThat(done.out()).isEmpty();
        assertThat(done.err())
                .startsWith("waymark: " + why)
                .hasLineCount(1)
                .doesNotContain("unexpected", "Exception", "dev.waymark", "fasterxml");
    }

    @Test
    void show_threadWithNewerRules_explainsThat() {
        assertRefused("newer", "this thread goes by rules " + (ThreadIdentity.RULES + 1));
    }

    @Test
    void show_workflowOfAnotherProgram_explainsThat() {
        assertRefused("foreign", "the start input is not one that Waymark writes");
    }

    @Test
    void sessions_listReadableThreadsAndExplainOthers() {
        Done done = waymark.run("sessions");

        assertThat(done.out()).contains("known").doesNotContain("Exception");
        assertThat(done.err())
                .contains("newer", "foreign")
                .doesNotContain("unexpected", "Exception", "dev.waymark", "fasterxml");
    }
}
