package dev.waymark.langchain4j;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.jackson.JacksonMcpJsonMapper;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ImageContent;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

/** An MCP server on stdin and stdout, made with the SDK of the protocol. Runs in a separate process. */
public final class BookingServer {
    private static final String SCHEMA = """
            {"type": "object", "properties": {
               "city": {"type": "string", "description": "Where to"}, "nights": {"type": "integer"}},
             "required": ["city"]}
            """;

    private BookingServer() {}

    static List<String> command() {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                BookingServer.class.getName());
    }

    /** Serves until stdin ends. */
    public static void main(String[] args) {
        PrintStream out = System.out;
        System.setOut(System.err); // Nothing but messages may be written to stdout.
        McpJsonMapper mapper = new JacksonMcpJsonMapper(new ObjectMapper());
        McpServer.SyncSpecification<?> server = McpServer.sync(new StdioServerTransportProvider(mapper, System.in, out))
                .serverInfo("bookings", "1")
                .capabilities(ServerCapabilities.builder().tools(false).build());
        Map<String, Function<CallToolRequest, CallToolResult>> tools = Map.of(
                "book",
                call -> text("Booked " + call.arguments().get("city") + " for "
                        + call.arguments().get("nights") + " nights"),
                "list.rooms",
                call -> CallToolResult.builder()
                        .structuredContent(Map.of("rooms", List.of(7, 8)))
                        .build(),
                "refuse",
                call -> CallToolResult.builder()
                        .addTextContent("No rooms in " + call.arguments().get("city"))
                        .isError(true)
                        .build(),
                "draw",
                call -> CallToolResult.builder()
                        .content(List.of(
                                new TextContent("Here it is."), new ImageContent(null, "aGVsbG8=", "image/png")))
                        .build(),
                "hang",
                call -> hang(),
                "die",
                call -> {
                    Runtime.getRuntime().halt(3);
                    return text("dead");
                });
        tools.forEach((name, run) -> server.toolCall(
                Tool.builder()
                        .name(name)
                        .description("Does " + name)
                        .inputSchema(mapper, SCHEMA)
                        .build(),
                (exchange, call) -> run.apply(call)));
        server.build();
    }

    private static CallToolResult text(String words) {
        return CallToolResult.builder().addTextContent(words).build();
    }

    private static CallToolResult hang() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return text("late");
    }
}
