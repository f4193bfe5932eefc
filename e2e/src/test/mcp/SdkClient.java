import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Calls an agent with the official Java SDK, which supports the versions with a handshake. Usage: {@code SdkClient.java
 * legacy SCENE http URL}, or {@code SdkClient.java legacy SCENE stdio COMMAND...}
 */
class SdkClient {
    public static void main(String[] args) throws Exception {
        McpJsonMapper json = McpJsonDefaults.getMapper();
        McpClientTransport transport = args[2].equals("http")
                ? HttpClientStreamableHttpTransport.builder(args[3].substring(0, args[3].indexOf("/mcp")))
                        .endpoint(URI.create(args[3]).getPath())
                        .build()
                : new StdioClientTransport(
                        ServerParameters.builder(args[3])
                                .args(Arrays.asList(args).subList(4, args.length))
                                .env(System.getenv())
                                .build(),
                        json);
        try (McpSyncClient client =
                McpClient.sync(transport).requestTimeout(Duration.ofSeconds(60)).build()) {
            client.initialize();
            Map<String, Object> played = new LinkedHashMap<>();
            played.put("tools", client.listTools().tools().stream().map(McpSchema.Tool::name).toList());
            boolean talks = args[1].equals("talk");
            played.put("result", client.callTool(new McpSchema.CallToolRequest(
                    talks ? "assistant" : "billing", Map.of("message", talks ? "Hi" : "Charge"))));
            played.put("asked", List.of());
            System.out.println(json.writeValueAsString(played));
        }
    }
}
