package dev.waymark.server;

import dev.waymark.worker.server.DevServer;

/** On the server that is deployed, with PostgreSQL. */
class ConsoleCrashPostgresTest extends ConsoleCrashServerTest {
    @Override
    DevServer temporal() throws Exception {
        return TemporalOnPostgres.start();
    }
}
