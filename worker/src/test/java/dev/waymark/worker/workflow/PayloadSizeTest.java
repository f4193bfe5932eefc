package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;

class PayloadSizeTest extends PayloadSizeCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
