package dev.waymark.history;

import java.util.Optional;

/** How a run closed, and the run that goes on from it, if one does. */
public record RunEnding(Kind kind, Optional<String> nextRunId) {
    /** What the server calls it. */
    public enum Kind {
        COMPLETED,
        FAILED,
        CANCELLED,
        TERMINATED,
        TIMED_OUT,
        CONTINUED
    }
}
