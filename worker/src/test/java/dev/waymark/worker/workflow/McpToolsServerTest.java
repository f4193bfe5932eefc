package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;
import org.junit.jupiter.api.Tag;

@Tag("server")
class McpToolsServerTest extends McpToolsCases {
    @Override
    Connection connection() {
        return TestServers.real();
    }
}
