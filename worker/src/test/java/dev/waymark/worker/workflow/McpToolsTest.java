package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;
import org.junit.jupiter.api.Tag;

@Tag("full")
class McpToolsTest extends McpToolsCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
