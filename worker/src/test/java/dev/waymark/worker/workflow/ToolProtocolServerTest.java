package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;
import org.junit.jupiter.api.Tag;

@Tag("server")
class ToolProtocolServerTest extends ToolProtocolCases {
    @Override
    Connection connection() {
        return TestServers.real();
    }
}
