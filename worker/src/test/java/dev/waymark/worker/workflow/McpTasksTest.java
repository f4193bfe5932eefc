package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.waymark.agent.McpServer;
import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.server.InMemoryServer;
import dev.waymark.worker.tool.mcp.McpEntry;
import dev.waymark.worker.tool.mcp.TaskToolServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Calls that their MCP server does not finish at once, from the model's call to the result that it gets. */
@Tag("full")
class McpTasksTest {
    private TaskToolServer server;

    @BeforeEach
    void start() throws Exception {
        server = TaskToolServer.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static McpEntry entry(McpServer server, boolean trust) {
        return new McpEntry(
                server, trust, Optional.empty(), List.of(), Map.of(), Duration.ofSeconds(10), false, false, false);
    }

    private WorkflowRig rig(String tool) {
        return rig(tool, false);
    }

    private WorkflowRig rig(String tool, boolean trust) {
        return rig(TestServers.inMemory(), server, tool, trust);
    }

    /** Threads on this Temporal server, whose model calls this tool once. */
    static WorkflowRig rig(Connection connection, TaskToolServer server, String tool, boolean trust) {
        Part.ToolUse call = new Part.ToolUse("tu_1", "remote_" + tool, Json.of(Map.of("cents", 5)));
        return new WorkflowRig(connection, ToolProtocolCases.calling(call)).withServers(entry(server.server(), trust));
    }

    private static String start(WorkflowRig rig) {
        return rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));
    }

    private static Call.Status status(Conversation state) {
        return state.calls().get("tu_1").map(Call::status).orElse(Call.Status.ISSUED);
    }

    static Conversation awaitQuestion(WorkflowRig rig, String thread) {
        return rig.await(thread, now -> status(now) == Call.Status.ASKING);
    }

    static void answer(WorkflowRig rig, String thread, String answer) {
        rig.update(thread, SignalNames.ANSWER, Map.of("callId", "tu_1", "answer", answer));
    }

    @Test
    void task_isFollowedToItsEndAndRunsOnce() {
        try (WorkflowRig rig = rig("charge_task")) {
            String thread = start(rig);
            rig.await(thread, now -> status(now) == Call.Status.FOLLOWING);
            server.await("tasks/get", 2);
            server.finish("paid 5");

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).isEqualTo("paid 5;");
            assertThat(server.count("tools/call")).isEqualTo(1);
            assertThat(state.calls().get("tu_1").orElseThrow().suspension()).isEmpty();
            assertThat(server.names("tasks/get")).containsOnly(server.task());
        }
    }

    /** Each attempt that finds the task unfinished fails, and the SDK logs the failure after the activity's code. */
    @Test
    void failureInTheLog_namesThreadAndCall() {
        Logger logger = (Logger) LoggerFactory.getLogger("io.temporal.internal.activity");
        logger.setLevel(Level.WARN);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try (WorkflowRig rig = rig("charge_task")) {
            String thread = start(rig);
            server.await("tasks/get", 2);
            server.finish("paid 5");
            rig.awaitTurn(thread, 1);

            assertThat(List.copyOf(log.list))
                    .filteredOn(
                            event -> event.getMDCPropertyMap().get("WorkflowId").equals(thread))
                    .isNotEmpty()
                    .allSatisfy(event -> assertThat(event.getMDCPropertyMap()).containsEntry("Call", "tu_1"));
        } finally {
            logger.detachAppender(log);
            logger.setLevel(null);
        }
    }

    @Test
    void taskOfATrustedTool_startedWithTheReply_isFollowedToo() {
        try (WorkflowRig rig = rig("safe_task", true)) {
            String thread = start(rig);
            server.await("tasks/get", 1);
            server.finish("found");

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("found;");
        }
    }

    @Test
    void taskOfARestartedServer_isStillFollowed() throws Exception {
        try (WorkflowRig rig = rig("charge_task")) {
            String thread = start(rig);
            server.await("tasks/get", 1);
            server.restart();
            server.await("tasks/get", 1);
            server.finish("paid 5");

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("paid 5;");
            assertThat(server.count("tools/call")).isZero(); // Since the restart.
        }
    }

    /** Time is skipped. The activity that follows the task fails and is retried, which adds no events. */
    @Test
    void taskOfADay_overReplacedWorkersAndServer_runsOnce() throws Exception {
        server.pollEvery(Duration.ofHours(1));
        try (InMemoryServer temporal = InMemoryServer.start(0);
                Connection connection = Connection.to(temporal.address());
                SkippedTime time = SkippedTime.on(temporal.address());
                WorkflowRig rig = rig(connection, server, "charge_task", false)) {
            String thread = start(rig);
            rig.await(thread, now -> status(now) == Call.Status.FOLLOWING);
            int events = rig.timeline(thread).moments().size();
            for (int hour = 0; hour < 24; hour++) {
                time.skip(Duration.ofHours(1));
                if (hour % 8 == 3) {
                    rig.replaceWorker();
                }
                if (hour % 8 == 5) {
                    server.restart();
                }
            }
            server.await("tasks/get", 1);
            assertThat(rig.timeline(thread).moments()).hasSize(events);
            server.require("k1", "Which account?");
            time.skip(Duration.ofHours(2));
            awaitQuestion(rig, thread);
            time.skip(Duration.ofHours(24));

            answer(rig, thread, "savings");
            server.await("tasks/update", 1);
            server.finish("paid 5");
            time.skip(Duration.ofHours(2));

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("paid 5;");
            assertThat(server.keys()).hasSize(1);
        }
    }

    @Test
    void taskWithATooLongResult_hasAnUnknownOutcome() {
        try (WorkflowRig rig = rig("charge_task")) {
            String thread = start(rig);
            server.await("tasks/get", 1);
            server.finish("x".repeat(50 * 1024 * 1024));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(status(state)).isEqualTo(Call.Status.LOST);
            assertThat(state.turn().text()).contains("longer than 16777216 bytes");
        }
    }

    @Test
    void taskThatTheServerForgot_hasAnUnknownOutcome() {
        try (WorkflowRig rig = rig("charge_task")) {
            String thread = start(rig);
            server.await("tasks/get", 1);
            server.forget();

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(status(state)).isEqualTo(Call.Status.LOST);
            assertThat(state.turn().text()).contains("does not know the task");
        }
    }

    @Test
    void stop_cancelsTheTask() {
        try (WorkflowRig rig = rig("charge_task")) {
            String thread = start(rig);
            server.await("tasks/get", 1);
            rig.update(thread, SignalNames.STOP, Map.of());

            server.await("tasks/cancel", 1);
            Conversation state = rig.await(thread, now -> now.turn().status() == Turn.Status.STOPPED);
            assertThat(server.names("tasks/cancel")).containsExactly(server.task());
            assertThat(state.calls().get("tu_1").orElseThrow().result().orElse(""))
                    .contains("had been claimed");
            rig.await(thread, now -> now.callBook().tasksToCancel().isEmpty());
        }
    }

    @Test
    void taskThatNeedsInput_asksAndGetsTheAnswerOnce() {
        try (WorkflowRig rig = rig("charge_task")) {
            String thread = start(rig);
            server.await("tasks/get", 1);
            server.require("k1", "Which account?");
            Conversation asking = awaitQuestion(rig, thread);
            assertThat(asking.asks().get(0).question().orElseThrow())
                    .isEqualTo("remote_charge_task asks: Which account?\naccount: text, at most 20 characters");

            answer(rig, thread, "savings");
            server.await("tasks/update", 1);
            assertThat(server.response("k1").toString())
                    .isEqualTo("{\"action\":\"accept\",\"content\":{\"account\":\"savings\"}}");
            server.finish("paid 5");

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("paid 5;");
        }
    }

    @Test
    void callThatNeedsInput_asksAndIsRepeatedWithItsState() {
        try (WorkflowRig rig = rig("confirm")) {
            String thread = start(rig);
            awaitQuestion(rig, thread);
            assertThatThrownBy(() -> answer(rig, thread, "{\"account\":\"" + "x".repeat(21) + "\"}"))
                    .hasStackTraceContaining("\"account\" must be text, at most 20 characters");

            answer(rig, thread, "{\"account\":\"savings\"}");

            Conversation state = rig.awaitTurn(thread, 1);
            assertThat(state.turn().text()).isEqualTo("confirmed savings, state-1;");
            assertThat(server.count("tools/call")).isEqualTo(2);
            assertThat(server.keys()).hasSize(1);
        }
    }

    @Test
    void declinedForm_isReportedToTheServer() {
        try (WorkflowRig rig = rig("confirm")) {
            String thread = start(rig);
            awaitQuestion(rig, thread);

            rig.update(thread, SignalNames.ANSWER, Map.of("callId", "tu_1", "action", "decline"));

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("declined;");
        }
    }

    @Test
    void pageToOpen_isShownWithItsHost() {
        try (WorkflowRig rig = rig("connect")) {
            String thread = start(rig);

            assertThat(awaitQuestion(rig, thread).asks().get(0).question().orElseThrow())
                    .contains("Open this page of pay.example yourself", "https://pay.example/connect?x=1");
            answer(rig, thread, "done");

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("accepted;");
        }
    }

    @Test
    void samplingAndOversizedState_areRefused() {
        for (String tool : List.of("sample", "swell")) {
            try (WorkflowRig rig = rig(tool)) {
                Conversation state = rig.awaitTurn(start(rig), 1);

                assertThat(status(state)).isEqualTo(Call.Status.LOST);
            }
        }
    }
}
