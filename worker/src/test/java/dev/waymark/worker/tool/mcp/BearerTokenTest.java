package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpTool;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.outbound.HeaderSecret;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.Effect;
import dev.waymark.worker.tool.kind.EffectKeys;
import dev.waymark.worker.tool.kind.ToolRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Remote servers that want a token. */
class BearerTokenTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final EffectKeys EFFECT = new EffectKeys(Optional.of("key-1"), OptionalLong.of(1));

    @TempDir
    private Path directory;

    private TokenToolServer remote;
    private McpConnections servers;

    @BeforeEach
    void open() throws IOException {
        remote = new TokenToolServer();
        servers = new McpConnections(Map.of("PATH", System.getenv("PATH"), "ISSUES_SECRET", "s3cr&t value"), directory);
    }

    @AfterEach
    void close() {
        servers.close();
        remote.close();
    }

    private McpResult call(McpServer server, EffectKeys keys) throws Exception {
        return servers.call(
                new McpTool(server, "close_issue"),
                Json.of(Map.of("type", "object")),
                Json.EMPTY_OBJECT,
                keys,
                ToolRun.ServerTurn.ONLY,
                ProcessFence.in(PATIENCE));
    }

    @Test
    void credentials_areExchangedOnceAndTheTokenIsMasked() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertThat(call(remote.withCredentials(), EFFECT))
                    .isEqualTo(new McpResult("closed with Bearer [token]", Effect.DONE));
        }

        String resource =
                remote.server().url().orElseThrow().replace(":", "%3A").replace("/", "%2F");
        assertThat(remote.requests())
                .containsExactly("Basic "
                        + Base64.getEncoder().encodeToString("way+mark:s3cr%26t+value".getBytes(StandardCharsets.UTF_8))
                        + " grant_type=client_credentials&resource=" + resource + "&scope=issues%3Awrite");
        assertThat(remote.calls()).containsOnly("Bearer issued-token-1").hasSize(3);
    }

    @Test
    void expiringToken_isReplacedBeforeTheCall() throws Exception {
        remote.issueFor(20);

        call(remote.withCredentials(), EFFECT);
        call(remote.withCredentials(), EFFECT);

        assertThat(remote.calls()).doesNotHaveDuplicates().hasSize(2);
    }

    @Test
    void refusedToken_isReplacedWithoutRepeatingACallWithAnEffect() throws Exception {
        call(remote.withCredentials(), EFFECT);
        remote.revoke();

        McpResult refused = call(remote.withCredentials(), EFFECT);

        assertThat(refused.effect()).isEqualTo(Effect.NOT_DONE);
        assertThat(refused.text())
                .contains("Bearer [token] is not valid")
                .endsWith("The token was refused. The next call gets a new one");
        assertThat(remote.calls()).hasSize(2);
        assertThat(call(remote.withCredentials(), EFFECT).effect()).isEqualTo(Effect.DONE);
        assertThat(remote.calls()).last().isEqualTo("Bearer issued-token-2");
    }

    @Test
    void refusedToken_isReplacedAndASafeCallRepeated() throws Exception {
        call(remote.withCredentials(), EffectKeys.NONE);
        remote.revoke();

        assertThat(call(remote.withCredentials(), EffectKeys.NONE).effect()).isEqualTo(Effect.DONE);
        remote.accept("something else");
        assertThat(call(remote.withCredentials(), EffectKeys.NONE).effect()).isEqualTo(Effect.DONE);
        assertThat(remote.calls()).hasSize(5);
    }

    @Test
    void refusedCredentials_areAnErrorWithoutTheSecret() {
        remote.refuse("s3cr&t value is wrong");

        assertThatThrownBy(() -> call(remote.withCredentials(), EFFECT))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessageContaining("no token from http://127.0.0.1:")
                .hasMessageEndingWith("HTTP 401 invalid_client ${ISSUES_SECRET} is wrong");
        assertThat(remote.calls()).isEmpty();
    }

    @Test
    void missingToken_isNamed() {
        assertThatThrownBy(() -> call(remote.server(), EFFECT))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessageContaining("HTTP 401")
                .hasMessageEndingWith("The server wants a token: add token to its entry in the agent file");
    }

    @Test
    void program_afterARefusal_printsTheTokenAgain() throws Exception {
        Path printed = directory.resolve("printed");
        Files.writeString(printed, "abcdef-1\n");
        remote.accept("abcdef-1");
        McpServer server = remote.withProgram("cat", "printed");
        assertThat(call(server, EFFECT).text()).isEqualTo("closed with Bearer [token]");

        Files.writeString(printed, "abcdef-2\n");
        assertThat(call(server, EFFECT).effect()).isEqualTo(Effect.DONE);
        remote.accept("abcdef-2");
        assertThat(call(server, EFFECT).effect()).isEqualTo(Effect.NOT_DONE);
        assertThat(call(server, EFFECT).effect()).isEqualTo(Effect.DONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "two words", "line\nline", "grüße", "a\u0007b"})
    void outputThatIsNotAToken_isNotSent(String output) throws Exception {
        Files.writeString(directory.resolve("printed"), output);

        assertThatThrownBy(() -> call(remote.withProgram("cat", "printed"), EFFECT))
                .isInstanceOf(RequestNotSentException.class)
                .hasMessageContaining("no token from cat: it ");
    }

    @Test
    void failingProgram_isQuoted() {
        assertThatThrownBy(() -> call(remote.withProgram("sh", "-c", "echo no session >&2; exit 3"), EFFECT))
                .hasMessageContaining("no token from sh: exit code 3: no session");
    }

    @Test
    void tokenWithoutALifetime_isReadAgainAfterAWhile() throws Exception {
        AtomicInteger issued = new AtomicInteger();
        AtomicLong now = new AtomicLong();
        HeaderSecret usual = new HeaderSecret(
                "token",
                "a program",
                1,
                fence -> new HeaderSecret.Issued("token-" + issued.incrementAndGet(), HeaderSecret.USUAL_USE),
                now::get);
        ProcessFence fence = ProcessFence.in(PATIENCE);

        assertThat(usual.text(fence)).isEqualTo("token-1");
        assertThat(usual.text(fence)).isEqualTo("token-1");
        usual.refused("token-0");
        assertThat(usual.text(fence)).isEqualTo("token-1");
        usual.refused("token-1");
        assertThat(usual.text(fence)).isEqualTo("token-2");
        assertThat(usual.hidden().mask("token-1 token-2")).isEqualTo("[token] [token]");
        now.addAndGet(HeaderSecret.USUAL_USE.toNanos());
        assertThat(usual.text(fence)).isEqualTo("token-3");
    }
}
