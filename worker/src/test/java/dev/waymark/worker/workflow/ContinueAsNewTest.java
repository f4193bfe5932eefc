package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;

class ContinueAsNewTest extends ContinueAsNewCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
