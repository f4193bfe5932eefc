package dev.waymark.bench.chaos;

import dev.waymark.worker.server.DevServer;
import org.junit.jupiter.api.Tag;

@Tag("full")
class CrashMatrixTest extends CrashMatrixCases {
    @Override
    DevServer server() throws Exception {
        return DevServer.inMemory(0);
    }
}
