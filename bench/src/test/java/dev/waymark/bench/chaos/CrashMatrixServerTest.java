package dev.waymark.bench.chaos;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

@Tag("server")
@Tag("full")
class CrashMatrixServerTest extends CrashMatrixCases {
    @Override
    DevServer server() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal binary: tests on the real server are skipped");
        return DevServer.temporal(binary.get(), Optional.empty(), 0, 0);
    }
}
