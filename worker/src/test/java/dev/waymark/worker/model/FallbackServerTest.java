package dev.waymark.worker.model;

import dev.waymark.connect.Connection;
import dev.waymark.worker.workflow.TestServers;
import org.junit.jupiter.api.Tag;

@Tag("server")
@Tag("full")
class FallbackServerTest extends FallbackCases {
    @Override
    Connection connection() {
        return TestServers.real();
    }
}
