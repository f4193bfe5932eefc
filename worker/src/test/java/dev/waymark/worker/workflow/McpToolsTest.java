package dev.waymark.worker.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpTool;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.RunReader;
import dev.waymark.worker.tool.mcp.HttpToolServer;
import dev.waymark.worker.tool.mcp.McpEntry;
import dev.waymark.worker.tool.mcp.ToolServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tools of MCP servers, from discovery to the results that the model gets, on any Temporal server. */
@Tag("full")
class McpToolsTest {
    @TempDir
    Path directory;

    private static Part.ToolUse call(String tool, Map<String, Object> args) {
        return new Part.ToolUse("tu_1", tool, Json.of(args));
    }

    private static McpEntry entry(McpServer server, boolean trust, Duration timeout) {
        return new McpEntry(server, trust, Optional.empty(), List.of(), Map.of(), timeout, false, false, false);
    }

    private McpEntry program(boolean trust, Duration timeout) {
        return entry(ToolServer.program(directory, Map.of()), trust, timeout);
    }

    private WorkflowRig rig(Part.ToolUse call, McpEntry entry) {
        return new WorkflowRig(TestServers.inMemory(), ToolProtocolCases.calling(call)).withServers(entry);
    }

    private static Conversation turn(WorkflowRig rig) {
        return rig.awaitTurn(rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go"))), 1);
    }

    @Test
    void tools_areRecordedWithTheAgentAndRunOnce() {
        try (WorkflowRig rig = rig(call("test_charge", Map.of("cents", 5)), program(true, Duration.ofSeconds(60)))) {
            String thread = rig.start(StartInput.of("a").saying(PersonFact.UserSpoke.message("m-1", "Go")));

            Conversation state = rig.awaitTurn(thread, 1);

            assertThat(state.turn().text()).isEqualTo("charged 5;");
            AgentSpec agent = new RunReader(
                            new HistoryReader(TestServers.inMemory().client()), 1_000)
                    .setting(thread, rig.timeline(thread).moments().get(0).runId())
                    .agent();
            assertThat(agent.tool("test_charge").orElseThrow())
                    .returns(true, tool -> tool.hasEffect())
                    .returns("charge", tool -> ((McpTool) tool.implementation()).tool());
            assertThat(ToolServer.effects(directory)).singleElement().asString().matches("charge [0-9a-f]{64} \\d+");
        }
    }

    @Test
    void serverDies_duringACallWithAnEffect_isUnknownAndNotRunAgain() {
        try (WorkflowRig rig = rig(call("test_die", Map.of()), program(true, Duration.ofSeconds(60)))) {
            Conversation state = turn(rig);

            assertThat(state.calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.LOST);
            assertThat(state.turn().text()).contains("\"kind\":\"tool-durability-error\",\"toolName\":\"test_die\"");
            assertThat(ToolServer.effects(directory)).hasSize(1);
        }
    }

    @Test
    @Tag("full")
    void timeout_ofACallWithAnEffect_isUnknown() {
        try (WorkflowRig rig = rig(call("test_hang", Map.of()), program(false, Duration.ofSeconds(2)))) {
            Conversation state = turn(rig);

            assertThat(state.calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.LOST);
            assertThat(ToolServer.effects(directory)).hasSize(1);
        }
    }

    @Test
    void answerTooLong_ofACallWithAnEffect_isUnknown() {
        try (WorkflowRig rig =
                rig(call("test_huge", Map.of("bytes", 17_000_000)), program(false, Duration.ofSeconds(60)))) {
            Conversation state = turn(rig);

            assertThat(state.calls().get("tu_1").orElseThrow().status()).isEqualTo(Call.Status.LOST);
        }
    }

    @Test
    void connectionBreaks_duringASafeCall_runsItAgain() throws Exception {
        // Exits at its first call, and answers after it has been restarted.
        Path server = directory.resolve("flaky.sh");
        Files.writeString(server, """
                while read -r line; do
                    id=${line##*\\"id\\":}; id=${id%%[!0-9]*}
                    case $line in
                    *initialize*'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18"}}' ;;
                    *tools/list*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}' ;;
                    *tools/call*) [ -e began ] || { : > began; exit 1; }
                        echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"seen"}]}}' ;;
                    esac
                done
                """);
        McpServer flaky =
                McpServer.program("test", List.of("/bin/sh", "-c", "cd " + directory + " && . ./flaky.sh"), Map.of());
        try (WorkflowRig rig = rig(call("test_look", Map.of()), entry(flaky, true, Duration.ofSeconds(60)))) {
            assertThat(turn(rig).turn().text()).isEqualTo("seen;");
        }
    }

    @Test
    void toolRemovedFromTheServer_isAnErrorThatTheModelSees() throws Exception {
        try (HttpToolServer http = HttpToolServer.start(directory);
                WorkflowRig rig = rig(
                        call("test_echo", Map.of("text", "x")),
                        entry(http.at("/mcp", Map.of()), true, Duration.ofSeconds(60)))) {
            String thread = rig.start(StartInput.of("a"));
            rig.await(thread, state -> state.policy().isPresent());
            ToolServer.remove(directory, "echo");

            rig.update(thread, "say", Map.of("content", "Go"));

            assertThat(rig.awaitTurn(thread, 1).turn().text()).isEqualTo("Tool error: Unknown tool: echo (-32602);");
        }
    }

    @Test
    @Tag("full")
    void programThatIsNotAServer_endsTheRunWithTheReason() {
        McpServer none = McpServer.program("docs", List.of("/bin/sh", "-c", "echo 'no config' >&2; exit 7"), Map.of());
        try (WorkflowRig rig = rig(call("t", Map.of()), entry(none, true, Duration.ofSeconds(60)))) {
            Conversation state = turn(rig);

            assertThat(state.turn().status()).isEqualTo(Turn.Status.FAILED);
            assertThat(state.turn().problem().orElseThrow())
                    .hasToString("Problem[type=McpUnavailable, message=MCP server docs can't be reached:"
                            + " the server ended with 7: no config]");
        }
    }
}
