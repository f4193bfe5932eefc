package dev.waymark.worker.model;

import dev.waymark.connect.Connection;
import dev.waymark.worker.workflow.TestServers;

class RetryAfterTurnTest extends RetryAfterCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
