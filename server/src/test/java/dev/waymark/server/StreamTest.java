package dev.waymark.server;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;

/** On the in-memory server, which is polled. */
class StreamTest extends StreamCases {
    @Override
    DevServer temporal() {
        return InMemoryServer.start(0);
    }
}
