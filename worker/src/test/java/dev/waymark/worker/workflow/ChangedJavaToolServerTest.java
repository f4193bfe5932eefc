package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;
import org.junit.jupiter.api.Tag;

@Tag("server")
@Tag("full")
class ChangedJavaToolServerTest extends ChangedJavaToolCases {
    @Override
    Connection connection() {
        return TestServers.real();
    }
}
