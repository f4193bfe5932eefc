package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpTest extends McpCases {
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
    McpEra era() {
        return McpEra.HANDSHAKE;
    }

    @Override
    McpServer server() {
        return http.at("/mcp", Map.of("Authorization", "Bearer ${CANARY}"));
    }

    @Test
    void lostSession_ofASafeCall_isStartedAgain() throws Exception {
        call("echo", Map.of());
        http.forgetSessions();

        McpTool echo = new McpTool(server(), "echo");
        McpResult result = servers.call(
                echo,
                Json.EMPTY_OBJECT,
                Json.of(Map.of("text", "x")),
                EffectKeys.NONE,
                ToolRun.ServerTurn.ONLY,
                ProcessFence.in(PATIENCE));

        assertThat(result.text()).isEqualTo("echo: x");
        assertThat(ToolServer.seen(directory)).filteredOn("initialize"::equals).hasSize(2);
    }

    @Test
    void lostSession_ofACallWithAnEffect_isRestartedByTheNextCall() throws Exception {
        call("charge", Map.of("cents", 5));
        http.forgetSessions();

        assertThat(call("charge", Map.of("cents", 7)))
                .isEqualTo(new McpResult("HTTP 404: no such session", Effect.NOT_DONE));
        assertThat(call("charge", Map.of("cents", 7)).text()).isEqualTo("charged 7");

        assertThat(ToolServer.effects(directory)).hasSize(2);
        assertThat(ToolServer.seen(directory)).filteredOn("initialize"::equals).hasSize(2);
    }

    /** A server may report a lost session after the effect, if it needed the session for something else, too. */
    @ParameterizedTest
    @ValueSource(ints = {400, 404})
    void effectBeforeALostSessionIsReported_happensOnce(int status) throws Exception {
        call("echo", Map.of());

        assertThat(call("charge", Map.of("status", status, "words", "session expired"))
                        .effect())
                .isEqualTo(Effect.NOT_DONE);

        assertThat(ToolServer.effects(directory)).hasSize(1);
    }

    @Test
    void close_endsTheSession() throws Exception {
        call("echo", Map.of());
        assertThat(http.sessions()).hasSize(1);

        servers.close();

        assertThat(http.sessions()).isEmpty();
    }

    @Test
    void status_5xxAnd408AreLost_other4xxAreErrors() throws Exception {
        assertThatThrownBy(() -> call("charge", Map.of("status", 408)))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessage("HTTP 408: upstream");
        assertThatThrownBy(() -> call("charge", Map.of("status", 502)))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessage("HTTP 502: upstream");
        assertThat(call("charge", Map.of("status", 422)))
                .isEqualTo(new McpResult("HTTP 422: upstream", Effect.NOT_DONE));
        assertThat(ToolServer.effects(directory)).hasSize(3);
    }

    @Test
    void redirect_isFollowedOnTheSameHostOnly() throws Exception {
        assertThat(call(http.at("/moved", Map.of()), "echo", Map.of("text", "x"), PATIENCE)
                        .text())
                .isEqualTo("echo: x");
        assertThatThrownBy(() -> call(http.at("/gone", Map.of()), "echo", Map.of(), PATIENCE))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("HTTP 307: redirects to another host are not followed");
        assertThatThrownBy(() -> call(http.at("/circle", Map.of()), "echo", Map.of(), PATIENCE))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("too many redirects");
    }

    @Test
    void credentials_quotedByTheServer_areMasked() {
        servers.close();
        servers = new McpConnections(Map.of("CANARY", "wrong-token"), directory);

        assertThatThrownBy(() -> call("echo", Map.of()))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("HTTP 401: no such token: Bearer ${CANARY}");
    }

    /** Each answer would need a thread and a connection. */
    @Test
    void server_askingFasterThanItReads_getsFewAnswers() throws Exception {
        assertThat(call("echo", Map.of("text", "x", "pings", 300)).text()).isEqualTo("echo: x");

        await().atMost(PATIENCE).until(() -> http.replies() > 0);
        assertThat(call("echo", Map.of("text", "y", "pings", 300)).text()).isEqualTo("echo: y");
        assertThat(http.replies()).isLessThanOrEqualTo(2);
    }

    @Test
    void unreachableServer_isNotReached() {
        McpServer server = server();
        http.close();

        assertThatThrownBy(() -> call(server, "charge", Map.of(), PATIENCE))
                .isInstanceOf(RequestNotSentException.class);
    }
}
