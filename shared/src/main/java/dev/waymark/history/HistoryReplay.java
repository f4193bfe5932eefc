package dev.waymark.history;

import io.temporal.common.WorkflowExecutionHistory;
import java.util.Optional;

/**
 * Replays histories with the workflow code of one build. The only implementation is in the worker. Programs that
 * must not depend on the worker find it with a {@link java.util.ServiceLoader}. Not thread-safe.
 */
public interface HistoryReplay extends AutoCloseable {
    /** Why this build could not continue the run; empty if it can. */
    Optional<Failure> replay(WorkflowExecutionHistory history);

    @Override
    void close();

    /**
     * A difference between the workflow code and the history.
     *
     * @param eventId the event that the code contradicts; empty if the failure does not name one
     */
    record Failure(Optional<Long> eventId, String message) {}
}
