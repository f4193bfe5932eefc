package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.McpTool;
import dev.waymark.conversation.value.Json;
import dev.waymark.worker.process.ProcessFence;
import dev.waymark.worker.tool.kind.EffectKeys;
import dev.waymark.worker.tool.kind.ToolRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A worker that calls a tool, prints the result, and does nothing more. */
final class OneServer {
    private OneServer() {}

    public static void main(String[] words) throws Exception {
        Path directory = Path.of(words[0]);
        McpConnections servers = new McpConnections(System.getenv(), directory);
        McpTool echo = new McpTool(ToolServer.program(directory, Map.of()), "echo");
        System.out.println(servers.call(
                        echo,
                        Json.EMPTY_OBJECT,
                        Json.of(Map.of("text", "hello")),
                        EffectKeys.NONE,
                        ToolRun.ServerTurn.ONLY,
                        ProcessFence.in(Duration.ofSeconds(60)))
                .text());
        System.in.read();
    }
}
