package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.McpServer;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpTest extends McpCases {
    private HttpToolServer http;

    @BeforeEach
    void start() throws IOException {
        http = HttpToolServer.start(directory);
    }

    @AfterEach
    void stop() {
        http.close();
    }

    @Override
    McpServer server() {
        return http.at("/mcp", Map.of("Authorization", "Bearer ${CANARY}"));
    }

    @Test
    void session_thatTheServerForgot_isBegunAnew_withOneEffect() throws Exception {
        call("charge", Map.of("cents", 5));
        http.forgetSessions();

        assertThat(call("charge", Map.of("cents", 7)).text()).isEqualTo("charged 7");

        assertThat(ToolServer.effects(directory)).hasSize(2);
        assertThat(ToolServer.seen(directory)).filteredOn("initialize"::equals).hasSize(2);
    }

    @Test
    void closed_endsTheSession() throws Exception {
        call("echo", Map.of());
        assertThat(http.sessions()).hasSize(1);

        servers.close();

        assertThat(http.sessions()).isEmpty();
    }

    @Test
    void status_5xx_isLost_4xx_isAnError() throws Exception {
        assertThatThrownBy(() -> call("charge", Map.of("status", 502)))
                .isInstanceOf(OutcomeUnknownException.class)
                .hasMessage("HTTP 502: upstream");
        assertThat(call("charge", Map.of("status", 422))).isEqualTo(new McpResult("HTTP 422: upstream", true));
        assertThat(ToolServer.effects(directory)).hasSize(2);
    }

    @Test
    void redirect_isFollowedOnTheSameHostOnly() throws Exception {
        assertThat(call(http.at("/moved", Map.of()), "echo", Map.of("text", "x"), PATIENCE)
                        .text())
                .isEqualTo("echo: x");
        assertThatThrownBy(() -> call(http.at("/gone", Map.of()), "echo", Map.of(), PATIENCE))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("HTTP 307: it redirects elsewhere, which is not followed");
        assertThatThrownBy(() -> call(http.at("/circle", Map.of()), "echo", Map.of(), PATIENCE))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("it redirects in circles");
    }

    @Test
    void credentials_thatTheServerQuotes_areHidden() {
        servers.close();
        servers = new McpConnections(Map.of("CANARY", "wrong-token"), directory);

        assertThatThrownBy(() -> call("echo", Map.of()))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessage("HTTP 401: no such token: Bearer ${CANARY}");
    }

    @Test
    void nobodyThere_isNotReached() {
        McpServer server = server();
        http.close();

        assertThatThrownBy(() -> call(server, "charge", Map.of(), PATIENCE))
                .isInstanceOf(RequestNotSentException.class);
    }
}
