package dev.waymark.server;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;
import org.junit.jupiter.api.Tag;

/** Streams of threads on the in-memory server, which is polled. */
@Tag("full")
class StreamTest extends StreamCases {
    @Override
    DevServer temporal() {
        return InMemoryServer.start(0);
    }
}
