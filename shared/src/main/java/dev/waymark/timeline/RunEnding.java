package dev.waymark.timeline;

import java.util.Optional;

/** How a run closed, and the run that continues it, if any. */
public record RunEnding(Kind kind, Optional<String> nextRunId) {
    /** The status with which the server closed the run. */
    public enum Kind {
        COMPLETED,
        FAILED,
        CANCELLED,
        TERMINATED,
        TIMED_OUT,
        CONTINUED
    }
}
