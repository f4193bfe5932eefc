package dev.waymark.server;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.waymark.worker.server.DevServer;
import dev.waymark.worker.server.TemporalBinary;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/** The console on Temporal's development server, which answers long polls. */
@Tag("full")
@Tag("server")
class ConsoleServerTest extends ConsoleCases {
    @Override
    DevServer temporal() throws Exception {
        Optional<Path> binary = TemporalBinary.find();
        assumeTrue(binary.isPresent(), "no temporal command");
        return DevServer.temporal(binary.orElseThrow(), Optional.empty(), 0, 0);
    }
}
