package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;

class HostileSignalTest extends HostileSignalCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
