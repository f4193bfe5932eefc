package dev.waymark.bench.chaos;

import dev.waymark.worker.server.DevServer;

class CrashMatrixTest extends CrashMatrixCases {
    @Override
    DevServer server() throws Exception {
        return DevServer.inMemory(0);
    }
}
