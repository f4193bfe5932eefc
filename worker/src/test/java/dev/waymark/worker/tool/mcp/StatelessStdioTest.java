package dev.waymark.worker.tool.mcp;

import dev.waymark.agent.McpServer;
import java.util.Map;
import org.junit.jupiter.api.Tag;

@Tag("full")
class StatelessStdioTest extends McpCases {
    @Override
    McpServer server() {
        return ToolServer.program(directory, era(), Map.of("TOKEN", "${CANARY}"));
    }

    @Override
    McpEra era() {
        return McpEra.STATELESS;
    }
}
