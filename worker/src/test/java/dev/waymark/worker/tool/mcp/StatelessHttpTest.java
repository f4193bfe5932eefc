package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpTool;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.EffectKeys;
import dev.waymark.worker.tool.kind.ToolRun;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StatelessHttpTest extends McpCases {
    private HttpToolServer http;

    @BeforeEach
    void start() throws IOException {
        http = HttpToolServer.start(directory, era());
    }

    @AfterEach
    void stop() {
        http.close();
    }

    @Override
    McpServer server() {
        return http.at("/mcp", Map.of("Authorization", "Bearer ${CANARY}"));
    }

    @Override
    McpEra era() {
        return McpEra.STATELESS;
    }

    @Override
    String hangUp() {
        return "hung up";
    }

    private McpResult callMarked(String text) throws Exception {
        Json schema = Json.of(Map.of(
                "type", "object", "properties", Map.of("text", Map.of("type", "string", "x-mcp-header", "Text"))));
        return servers.call(
                new McpTool(server(), "echo"),
                schema,
                Json.of(Map.of("text", text)),
                EffectKeys.NONE,
                ToolRun.ServerTurn.ONLY,
                ProcessFence.in(PATIENCE));
    }

    @Test
    void markedParameters_withAnyContent_areHeaders() throws Exception {
        ToolServer.mark(directory, "echo", "Text");

        for (String text : new String[] {"eu-west1", "Grüße", " padded ", "two\nlines", "=?base64?literal?=", ""}) {
            assertThat(callMarked(text)).isEqualTo(new McpResult("echo: " + text, Effect.DONE));
        }
    }

    /** The thread keeps the definition that its model has read. */
    @Test
    void markAddedLater_isAnErrorWithoutAnEffect() throws Exception {
        ToolServer.mark(directory, "charge", "Text");

        assertThat(call("charge", Map.of("text", "x")))
                .isEqualTo(new McpResult("HTTP 400: Header mismatch: Mcp-Param-Text", Effect.NOT_DONE));
        assertThat(ToolServer.effects(directory)).isEmpty();
    }

    @Test
    void status_5xxAnd408AreLost_other4xxAreErrorsAndNotRetried() throws Exception {
        assertThatThrownBy(() -> call("charge", Map.of("status", 408)))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessage("HTTP 408: upstream");
        assertThatThrownBy(() -> call("charge", Map.of("status", 502)))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessage("HTTP 502: upstream");
        assertThat(call("charge", Map.of("status", 404)))
                .isEqualTo(new McpResult("HTTP 404: upstream", Effect.NOT_DONE));
        assertThat(call("charge", Map.of("status", 400, "words", "session expired")))
                .isEqualTo(new McpResult("HTTP 400: session expired", Effect.NOT_DONE));
        assertThat(ToolServer.effects(directory)).hasSize(4);
    }

    @Test
    void serverThatBecomesAnOlderVersion_isAskedAgain() throws Exception {
        call("echo", Map.of());
        http.become(McpEra.HANDSHAKE);

        call("echo", Map.of()); // Refused: it has no session.
        assertThat(call("charge", Map.of("cents", 5)).text()).isEqualTo("charged 5");

        http.become(McpEra.STATELESS);

        call("charge", Map.of("cents", 6));
        assertThat(call("charge", Map.of("cents", 7)).text()).isEqualTo("charged 7");
        assertThat(ToolServer.effects(directory)).hasSize(2);
    }

    /** A broken stream must not cause a second charge, although the specification allows clients to repeat requests. */
    @Test
    void callWithABrokenStream_isSentOnce() throws Exception {
        call("echo", Map.of());

        assertThatThrownBy(() -> call("die", Map.of())).isInstanceOf(OutcomeUnknownException.class);

        assertThat(ToolServer.effects(directory)).containsExactly("die key-1 3");
    }
}
