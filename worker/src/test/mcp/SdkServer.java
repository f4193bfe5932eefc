import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.util.Map;

/** A server with the official Java SDK, over stdio. */
class SdkServer {
    public static void main(String[] args) {
        Tool sum = Tool.builder("sum", Map.of("type", "object", "properties", Map.of("a", Map.of(), "b", Map.of())))
                .description("Adds")
                .build();
        McpServer.sync(new StdioServerTransportProvider(McpJsonDefaults.getMapper()))
                .serverInfo("java", "1")
                .toolCall(sum, (exchange, call) -> CallToolResult.builder()
                        .addTextContent(String.valueOf(number(call.arguments(), "a") + number(call.arguments(), "b")))
                        .build())
                .build();
    }

    private static int number(Map<String, Object> arguments, String name) {
        return ((Number) arguments.get(name)).intValue();
    }
}
