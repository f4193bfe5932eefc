package dev.waymark.worker.tool.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.ApprovalRule;
import dev.waymark.agent.McpServer;
import dev.waymark.agent.McpTool;
import dev.waymark.agent.ToolSpec;
import dev.waymark.contract.PayloadJson;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Spent;
import dev.waymark.tool.JudgedCall;
import dev.waymark.tool.RuleCheck;
import io.temporal.failure.ApplicationFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

@Tag("full")
class McpDiscoveryTest {
    private static final List<ApprovalRule> ALWAYS = List.of(new ApprovalRule(Json.of(Map.of("then", "ask"))));

    private static final Duration TIMEOUT = Duration.ofSeconds(7);

    @TempDir
    Path directory;

    private HttpToolServer http;
    private McpConnections servers;

    @BeforeEach
    void start() throws IOException {
        http = HttpToolServer.start(directory);
        servers = new McpConnections(Map.of("CANARY", McpCases.TOKEN), directory);
    }

    @AfterEach
    void stop() {
        servers.close();
        http.close();
    }

    private McpServer server() {
        return http.at("/mcp", Map.of("Authorization", "Bearer ${CANARY}"));
    }

    private McpEntry entry(boolean trust, Optional<List<String>> allow, Map<String, List<ApprovalRule>> approve) {
        return new McpEntry(server(), trust, allow, List.of(), approve, TIMEOUT, false, false, false);
    }

    private AgentSpec complete(McpEntry entry, ToolSpec... own) throws Exception {
        return new McpDiscovery(servers).complete(AgentSpec.of("a", "fake:model", own), List.of(entry));
    }

    private ToolSpec.Builder tool(String name, String remote) {
        return ToolSpec.mcp(name, server(), remote)
                .describedAs("Does " + remote, Json.of(Map.of("type", "object")))
                .timeout(TIMEOUT);
    }

    @Test
    void trustedServer_harmlessTool_isSafeToRetry() throws Exception {
        AgentSpec agent = complete(entry(true, Optional.of(List.of("echo", "charge")), Map.of("echo", ALWAYS)));

        assertThat(agent.tools())
                .containsExactly(
                        tool("test_echo", "echo").approval().safeToRetry().build(),
                        tool("test_charge", "charge").build());
    }

    @Test
    void untrustedServer_everyTool_hasSideEffects() throws Exception {
        AgentSpec agent = complete(entry(false, Optional.empty(), Map.of()));

        assertThat(agent.tools()).hasSize(12).allMatch(ToolSpec::hasEffect);
    }

    @Test
    void namesInvalidForModels_areReplacedAndStayKnown() throws Exception {
        ToolSpec taken = ToolSpec.command("test_echo", "true").build();

        AgentSpec agent =
                complete(entry(false, Optional.of(List.of("echo", "a.b", ToolServer.LONG_NAME)), Map.of()), taken);

        assertThat(agent.tools())
                .extracting(ToolSpec::name)
                .doesNotHaveDuplicates()
                .allMatch(name -> name.matches("[A-Za-z0-9_-]{1,64}"));
        assertThat(agent.tools().get(1).name()).matches("test_echo_[0-9a-f]{8}");
        assertThat(agent.tools().get(2).name()).matches("test_a_b_[0-9a-f]{8}");
        assertThat(((McpTool) agent.tools().get(3).implementation()).tool()).isEqualTo(ToolServer.LONG_NAME);
    }

    @Test
    void recordedAgent_containsNoSecretAndIsReadBack() throws Exception {
        AgentSpec agent = complete(entry(true, Optional.empty(), Map.of()));

        String json = PayloadJson.MAPPER.writeValueAsString(agent);

        assertThat(json).doesNotContain(McpCases.TOKEN).contains("Bearer ${CANARY}");
        assertThat(PayloadJson.MAPPER.readValue(json, AgentSpec.class)).isEqualTo(agent);
    }

    @Test
    void misspelledNames_areRefused() {
        assertRefused(
                entry(false, Optional.of(List.of("ecko")), Map.of()),
                "MCP server test can't be used: allow names unknown tools: ecko. It has echo, sum, ");
        assertRefused(
                entry(false, Optional.empty(), Map.of("chrage", ALWAYS)),
                "MCP server test can't be used: approval names unknown tools: chrage. It has echo, sum, ");
    }

    /** A file is read before the names of the arguments are known. */
    @Test
    void ruleForAMissingArgument_asksAndIsLoggedOnce() throws Exception {
        Files.writeString(directory.resolve("server.sh"), """
                read -r discover
                echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'
                read -r hello
                echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18"}}'
                read -r initialized
                id=3
                while read -r list; do
                  echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"pay","inputSchema":{"type":"object","properties":{"cents":{"type":"integer"}},"additionalProperties":false}}]}}'
                  id=$((id + 1))
                done
                """);
        ApprovalRule small = ApprovalRule.allow("small")
                .when(Json.of(Map.of("properties", Map.of("cent", Map.of("maximum", 2_000)))));
        McpEntry bank = new McpEntry(
                McpServer.program("bank", List.of("/bin/sh", "server.sh"), Map.of()),
                false,
                Optional.empty(),
                List.of(small),
                Map.of(),
                TIMEOUT,
                false,
                false,
                false);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(McpDiscovery.class);
        logger.addAppender(log);
        try {
            McpDiscovery discovery = new McpDiscovery(servers);
            discovery.complete(AgentSpec.of("a", "fake:model"), List.of(bank));
            ToolSpec pay = discovery
                    .complete(AgentSpec.of("a", "fake:model"), List.of(bank))
                    .tool("bank_pay")
                    .orElseThrow();

            JudgedCall call = new JudgedCall(
                    "bank_pay",
                    Json.of(Map.of("cents", 7)),
                    Optional.empty(),
                    Spent.NOTHING,
                    1,
                    Instant.EPOCH,
                    Optional.empty());
            assertThat(RuleCheck.verdict(pay, call).words())
                    .isEqualTo("asks by rule 1: it can't be evaluated: the tool has no argument cent, only [cents]");
            assertThat(log.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactly("a rule for tool pay of MCP server bank always asks: rule 1: when can't be used:"
                            + " the tool has no argument cent, only [cents]");
        } finally {
            logger.detachAppender(log);
        }
    }

    @Test
    void unreachableServer_isRetried() {
        McpEntry entry = entry(false, Optional.empty(), Map.of());
        http.close();

        assertThatThrownBy(() -> complete(entry))
                .isInstanceOfSatisfying(
                        ApplicationFailure.class,
                        failure -> assertThat(failure)
                                .returns("McpUnavailable", ApplicationFailure::getType)
                                .returns(false, ApplicationFailure::isNonRetryable))
                .hasMessageContaining("MCP server test can't be reached: ");
    }

    /** The server has used up its time. Retries would take six times as long. */
    @Test
    void hangingServer_isNamedAndNotRetried() {
        for (String script : List.of(
                "sleep 1000",
                "read hello; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\"}}';"
                        + " sleep 1000")) {
            McpServer server = McpServer.program("sleepy", List.of("/bin/sh", "-c", script), Map.of());
            McpEntry entry =
                    new McpEntry(server, false, Optional.empty(), List.of(), Map.of(), TIMEOUT, false, false, false);

            assertThatThrownBy(() -> new McpDiscovery(servers, Duration.ofSeconds(1))
                            .complete(AgentSpec.of("a", "fake:model"), List.of(entry)))
                    .isInstanceOfSatisfying(
                            ApplicationFailure.class,
                            failure -> assertThat(failure)
                                    .returns("McpUnavailable", ApplicationFailure::getType)
                                    .returns(true, ApplicationFailure::isNonRetryable))
                    .hasMessageContaining("MCP server sleepy can't be reached: timed out after 1s");
        }
    }

    private void assertRefused(McpEntry entry, String words) {
        assertThatThrownBy(() -> complete(entry))
                .isInstanceOfSatisfying(
                        ApplicationFailure.class,
                        failure -> assertThat(failure)
                                .returns("McpUnavailable", ApplicationFailure::getType)
                                .returns(true, ApplicationFailure::isNonRetryable))
                .hasMessageContaining(words);
    }
}
