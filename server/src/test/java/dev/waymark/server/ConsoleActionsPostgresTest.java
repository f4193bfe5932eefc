package dev.waymark.server;

import dev.waymark.worker.server.DevServer;
import org.junit.jupiter.api.Tag;

/** Everything that the console does, on a deployed Temporal server with PostgreSQL. */
@Tag("full")
@Tag("server")
class ConsoleActionsPostgresTest extends ConsoleTest {
    @Override
    DevServer temporal() throws Exception {
        return TemporalOnPostgres.start();
    }
}
