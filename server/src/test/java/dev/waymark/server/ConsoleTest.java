package dev.waymark.server;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import org.junit.jupiter.api.Tag;

/** The console on the in-memory server, which is polled. */
@Tag("full")
class ConsoleTest extends ConsoleCases {
    @Override
    DevServer temporal() {
        return InMemoryServer.start(0);
    }
}
