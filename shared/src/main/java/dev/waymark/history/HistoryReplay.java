package dev.waymark.history;

import io.temporal.common.WorkflowExecutionHistory;
import java.util.Optional;

/**
 * Replays histories with the workflow code of one build. The worker's jar has the only implementation, which programs
 * that must not depend on it find with a {@link java.util.ServiceLoader}. Not thread-safe.
 */
public interface HistoryReplay extends AutoCloseable {
    /** Why this build could not continue the run; empty if it can. */
    Optional<Failure> replay(WorkflowExecutionHistory history);

    @Override
    void close();

    /**
     * The workflow code does something else than the history says.
     *
     * @param eventId the event that it contradicts; empty if the failure does not name one
     */
    record Failure(Optional<Long> eventId, String message) {}
}
