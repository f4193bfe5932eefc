package dev.waymark.server;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.InMemoryServer;

class ListTest extends ListCases {
    @Override
    DevServer temporal() {
        return InMemoryServer.start(0);
    }
}
