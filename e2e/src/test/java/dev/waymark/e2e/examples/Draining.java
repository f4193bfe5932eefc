package dev.waymark.e2e.examples;

import dev.waymark.worker.AgentWorker;
import java.time.Duration;

/** Lets running calls finish when the JVM gets SIGTERM. */
final class Draining {
    private Draining() {}

    /** Called directly after {@code worker.start()}. The connection stays open until then. */
    static void drainAtTheEnd(AgentWorker worker) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> worker.drain(Duration.ofSeconds(30))));
    }
}
