package dev.waymark.server;

import dev.waymark.worker.server.DevServer;
import org.junit.jupiter.api.Tag;

/** On the server that is deployed, with PostgreSQL. */
@Tag("full")
@Tag("server")
class ConsolePostgresTest extends ConsoleCases {
    @Override
    DevServer temporal() throws Exception {
        return TemporalOnPostgres.start();
    }
}
