package dev.waymark.server;

import dev.waymark.worker.server.DevServer;

/** Runs the cases on a deployed Temporal server with PostgreSQL. */
class ConsoleCrashPostgresTest extends ConsoleCrashServerTest {
    @Override
    DevServer temporal() throws Exception {
        return TemporalOnPostgres.start();
    }
}
