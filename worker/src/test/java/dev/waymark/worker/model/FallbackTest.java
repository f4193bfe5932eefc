package dev.waymark.worker.model;

import dev.waymark.connect.Connection;
import dev.waymark.worker.workflow.TestServers;
import org.junit.jupiter.api.Tag;

@Tag("full")
class FallbackTest extends FallbackCases {
    @Override
    Connection connection() {
        return TestServers.inMemory();
    }
}
