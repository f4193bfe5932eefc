package dev.waymark.spring;

import dev.waymark.connect.Connection;
import dev.waymark.worker.AgentWorker;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The health of the application: up if the server answers and the worker, if one runs, polls for tasks. */
final class WaymarkHealth {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final Connection connection;
    private final Optional<WorkerLifecycle> lifecycle;

    WaymarkHealth(Connection connection, Optional<WorkerLifecycle> lifecycle) {
        this.connection = connection;
        this.lifecycle = lifecycle;
    }

    boolean isUp() {
        return worker().map(AgentWorker::isReady).orElseGet(() -> Connection.answers(connection.stubs(), PATIENCE));
    }

    /**
     * Returns the address of the server, the namespace, and the task queue of the worker, if one is running, with the
     * reason why it gets no work.
     */
    Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("server", connection.address());
        details.put("namespace", connection.namespace());
        details.put("worker", worker().map(AgentWorker::taskQueue).orElse("none"));
        worker().flatMap(AgentWorker::idleReason).ifPresent(why -> details.put("idle", why));
        return details;
    }

    private Optional<AgentWorker> worker() {
        return lifecycle.flatMap(WorkerLifecycle::running);
    }
}
