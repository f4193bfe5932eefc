package dev.waymark.spring;

import dev.waymark.connect.Connection;
import dev.waymark.worker.AgentWorker;
import io.grpc.StatusRuntimeException;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Whether the server answers and the worker, if there is one, polls it. */
final class WaymarkHealth {
    private static final long MOST_MILLIS = 2_000;

    private final Connection connection;
    private final Optional<WorkerLifecycle> lifecycle;

    WaymarkHealth(Connection connection, Optional<WorkerLifecycle> lifecycle) {
        this.connection = connection;
        this.lifecycle = lifecycle;
    }

    boolean isUp() {
        return worker().map(AgentWorker::isReady).orElseGet(this::answers);
    }

    /** What operators see beside the status. */
    Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("server", connection.address());
        details.put("namespace", connection.namespace());
        details.put("worker", worker().map(AgentWorker::taskQueue).orElse("none"));
        return details;
    }

    private Optional<AgentWorker> worker() {
        return lifecycle.flatMap(WorkerLifecycle::running);
    }

    private boolean answers() {
        try {
            connection
                    .stubs()
                    .blockingStub()
                    .withDeadlineAfter(MOST_MILLIS, TimeUnit.MILLISECONDS)
                    .getSystemInfo(GetSystemInfoRequest.getDefaultInstance());
            return true;
        } catch (StatusRuntimeException e) {
            return false;
        }
    }
}
