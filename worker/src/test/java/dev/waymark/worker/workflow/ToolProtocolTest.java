package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;

class ToolProtocolTest extends ToolProtocolCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
