package dev.waymark.worker.workflow;

import dev.waymark.connect.Connection;
import dev.waymark.worker.server.InMemoryServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class AgentWorkflowTest extends AgentWorkflowCases {
    private static InMemoryServer server;
    private static Connection connection;

    @BeforeAll
    static void connect() throws Exception {
        server = InMemoryServer.start(0);
        connection = Connection.to(server.address());
    }

    @AfterAll
    static void disconnect() {
        connection.close();
        server.close();
    }

    @Override
    Connection connection() {
        return connection;
    }
}
