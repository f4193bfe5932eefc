package dev.waymark.server;

import dev.waymark.worker.server.DevServer;
import org.junit.jupiter.api.Tag;

/** All decisions in the console, on a deployed Temporal server with PostgreSQL. */
@Tag("full")
@Tag("server")
class ConsoleDecisionsPostgresTest extends ConsoleDecisionsTest {
    @Override
    DevServer temporal() throws Exception {
        return TemporalOnPostgres.start();
    }
}
