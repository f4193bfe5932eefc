package dev.waymark.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.exception.ToolArgumentsException;
import dev.langchain4j.exception.ToolExecutionException;
import dev.langchain4j.mcp.client.DefaultMcpClient;
import dev.langchain4j.mcp.client.McpClient;
import dev.langchain4j.mcp.client.transport.stdio.StdioMcpTransport;
import dev.waymark.agent.ToolSpec;
import dev.waymark.conversation.value.Json;
import dev.waymark.tool.EffectUnknownException;
import dev.waymark.tool.Tool;
import dev.waymark.tool.ToolContext;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tools of LangChain4j's MCP client, with a server in a separate process. */
@Tag("full")
@Timeout(120)
class LangChainMcpTest {
    private static final ToolContext CALL = new ToolContext("thread", "tu_1", "book", "key");
    private static final Json OSLO = Json.of(Map.of("city", "Oslo", "nights", 2));

    private static McpClient client(Duration timeout) {
        return new DefaultMcpClient.Builder()
                .transport(StdioMcpTransport.builder()
                        .command(BookingServer.command())
                        .build())
                .toolExecutionTimeout(timeout)
                .build();
    }

    private static List<Tool> tools(McpClient client) {
        return LangChainTools.ofSpecifications(
                client.listTools(), request -> client.executeTool(request).resultText());
    }

    private static Tool tool(McpClient client, String name) {
        return tools(client).stream()
                .filter(tool -> tool.spec().name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void tools_ofAClient_areListedWithTheirSchemas() throws Exception {
        try (McpClient client = client(Duration.ZERO)) {
            List<Tool> tools = tools(client);

            assertThat(tools)
                    .extracting(tool -> tool.spec().name())
                    .containsExactlyInAnyOrder("book", "list_rooms_3bbe484cf452", "refuse", "draw", "hang", "die");
            assertThat(tool(client, "book").spec())
                    .isEqualTo(ToolSpec.java("book")
                            .describedAs(
                                    "Does book",
                                    Json.of(Map.of(
                                            "type",
                                            "object",
                                            "properties",
                                            Map.of(
                                                    "city",
                                                    Map.of("type", "string", "description", "Where to"),
                                                    "nights",
                                                    Map.of("type", "integer")),
                                            "required",
                                            List.of("city"))))
                            .build());
        }
    }

    @Test
    void run_resultsOfTheServer_areReturned() throws Exception {
        try (McpClient client = client(Duration.ZERO)) {
            assertThat(tool(client, "book").run(OSLO, CALL)).isEqualTo("Booked Oslo for 2 nights");
            Tool renamed = tools(client).stream()
                    .filter(tool -> tool.spec().name().startsWith("list_rooms"))
                    .findFirst()
                    .orElseThrow();
            assertThat(renamed.run(OSLO, CALL)).isEqualTo("{\"rooms\":[7,8]}");
        }
    }

    @Test
    void run_errorsOfTheServer_areErrorResults() throws Exception {
        try (McpClient client = client(Duration.ZERO)) {
            assertThatThrownBy(() -> tool(client, "refuse").run(OSLO, CALL))
                    .isExactlyInstanceOf(ToolExecutionException.class)
                    .hasMessage("No rooms in Oslo");
            List<Tool> unknown = LangChainTools.ofSpecifications(
                    client.listTools(),
                    request -> client.executeTool(
                                    ToolExecutionRequest.builder().name("gone").build())
                            .resultText());
            assertThatThrownBy(() -> unknown.get(0).run(OSLO, CALL))
                    .isInstanceOfAny(ToolArgumentsException.class, ToolExecutionException.class)
                    .hasMessageStartingWith("Unknown tool");
        }
    }

    /** LangChain4j fails on images only after the call, which may have taken effect. */
    @Test
    void run_resultThatLangChain4jCannotRead_isUnknown() throws Exception {
        try (McpClient client = client(Duration.ZERO)) {
            assertThatThrownBy(() -> tool(client, "draw").run(OSLO, CALL))
                    .isExactlyInstanceOf(EffectUnknownException.class)
                    .hasMessageContaining("Unsupported content type: \"image\"");
        }
    }

    /** LangChain4j returns its own timeout like a result. */
    @Test
    void run_timeoutOfTheClient_isUnknown() throws Exception {
        try (McpClient client = client(Duration.ofMillis(200))) {
            assertThatThrownBy(() -> tool(client, "hang").run(OSLO, CALL))
                    .isExactlyInstanceOf(EffectUnknownException.class)
                    .hasMessage("the MCP server did not answer in time");
        }
    }

    /** LangChain4j 1.9 does not report that a program ends during a call, which then ends by its timeout. */
    @Test
    void run_serverDies_isUnknown() throws Exception {
        try (McpClient client = client(Duration.ofSeconds(1))) {
            assertThatThrownBy(() -> tool(client, "die").run(OSLO, CALL))
                    .isExactlyInstanceOf(EffectUnknownException.class)
                    .hasMessage(
                            LangChainCases.IS_1_9
                                    ? "the MCP server did not answer in time"
                                    : "Operation cancelled due to transport failure: Process has exited");
        }
    }

    @Test
    void run_interrupted_endsAtOnce() throws Exception {
        try (McpClient client = client(Duration.ZERO)) {
            Tool hanging = tool(client, "hang");
            CountDownLatch called = new CountDownLatch(1);
            FutureTask<String> call = new FutureTask<>(() -> {
                called.countDown();
                return hanging.run(OSLO, CALL);
            });
            Thread thread = new Thread(call);
            thread.start();
            called.await();

            thread.interrupt();

            assertThat(catchThrowableOfType(ExecutionException.class, call::get))
                    .hasRootCauseInstanceOf(InterruptedException.class);
        }
    }
}
