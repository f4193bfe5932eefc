package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;

class McpToolsTest extends McpToolsCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
