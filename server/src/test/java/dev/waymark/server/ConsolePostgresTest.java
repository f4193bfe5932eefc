package dev.waymark.server;

import dev.waymark.worker.server.DevServer;
import org.junit.jupiter.api.Tag;

/** The console on a deployed Temporal server with PostgreSQL. */
@Tag("full")
@Tag("server")
class ConsolePostgresTest extends ConsoleCases {
    @Override
    DevServer temporal() throws Exception {
        return TemporalOnPostgres.start();
    }
}
