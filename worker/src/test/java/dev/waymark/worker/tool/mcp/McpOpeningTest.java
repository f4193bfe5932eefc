package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpTool;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.EffectKeys;
import dev.waymark.worker.tool.kind.ToolRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Detects the protocol of servers of both eras and of neither. They are shell scripts that read one message per line.
 */
@Tag("full")
class McpOpeningTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Answers a handshake and then one call. {@code $n} is the number of requests before. */
    private static final String HANDSHAKE = "read hello;"
            + answer("$((n+1))", "\"result\":{\"protocolVersion\":\"2025-06-18\"}")
            + "read initialized; read call;" + answer("$((n+2))", "\"result\":{\"content\":[]}") + "cat";

    @TempDir
    Path directory;

    private McpConnections servers;

    @BeforeEach
    void open() {
        servers = new McpConnections(System.getenv(), directory);
    }

    @AfterEach
    void close() {
        servers.close();
    }

    private static String answer(String id, String content) {
        return "printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":'" + id + "'," + content + "}';";
    }

    private McpResult call(String script) throws Exception {
        return servers.call(
                new McpTool(McpServer.program("test", List.of("/bin/sh", "-c", script), Map.of()), "t"),
                Json.EMPTY_OBJECT,
                Json.EMPTY_OBJECT,
                EffectKeys.NONE,
                ToolRun.ServerTurn.ONLY,
                ProcessFence.in(PATIENCE));
    }

    @Test
    void serverThatRefusesTheQuestion_getsAHandshake() throws Exception {
        String refusal = answer("1", "\"error\":{\"code\":-32602,\"message\":\"not initialized\"}");

        assertThat(call("read discover;" + refusal + "n=1;" + HANDSHAKE).text()).isEmpty();
    }

    @Test
    void serverThatIgnoresTheQuestion_getsAHandshake() throws Exception {
        assertThat(call("read discover; read cancelled; n=1;" + HANDSHAKE).text())
                .isEmpty();
    }

    /** Some libraries end the program if the first message is not the handshake. */
    @Test
    void serverThatEndsAtTheQuestion_isRestartedAndRemembered() throws Exception {
        String script = "echo >> starts; read first; case $first in *initialize*) "
                + HANDSHAKE.replace("read hello;", "n=0;") + ";; *) exit 1;; esac";

        assertThat(call(script).text()).isEmpty();
        assertThat(Files.readAllLines(directory.resolve("starts"))).hasSize(2);
    }

    @Test
    void serverThatKnowsOnlyOlderVersions_getsAHandshake() throws Exception {
        String refusal = answer("1", "\"error\":{\"code\":-32022,\"data\":{\"supported\":[\"2025-11-25\"]}}");

        assertThat(call("read discover;" + refusal + "n=1;" + HANDSHAKE).text()).isEmpty();
    }

    @Test
    void serverOfNoKnownVersion_isRefusedByName() {
        String discovered = answer("1", "\"result\":{\"supportedVersions\":[\"2031-01-01\"]}");

        assertThatThrownBy(() -> call("read discover;" + discovered + "cat"))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("it supports versions 2031-01-01 of the protocol; this worker supports 2024-11-05,"
                        + " 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28");
    }

    @Test
    void serverThatRequiresACapability_isRefusedWithItsMessage() {
        String refusal = answer("1", "\"error\":{\"code\":-32021,\"message\":\"needs sampling\"}");

        assertThatThrownBy(() -> call("read discover;" + refusal + "cat"))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("needs sampling (-32021)");
    }

    /** A server that is downloaded first may miss the time for the question, and know no handshake. */
    @Test
    void slowServerWithoutHandshake_isAskedAgain() throws Exception {
        String discovered = "\"result\":{\"supportedVersions\":[\"2026-07-28\"]}";
        String script = "sleep 11; read late;" + answer("1", discovered) + "read cancelled; read hello;"
                + answer("2", "\"error\":{\"code\":-32601,\"message\":\"no such method\"}")
                + "read discover;" + answer("3", discovered)
                + "read call;" + answer("4", "\"result\":{\"content\":[]}") + "cat";

        assertThat(call(script).text()).isEmpty();
    }
}
