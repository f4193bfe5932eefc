package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;

class SubagentTest extends SubagentCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
