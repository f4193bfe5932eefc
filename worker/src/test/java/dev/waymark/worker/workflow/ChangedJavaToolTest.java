package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;

class ChangedJavaToolTest extends ChangedJavaToolCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
