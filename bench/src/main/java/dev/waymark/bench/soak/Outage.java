package dev.waymark.bench.soak;

import java.time.Instant;

/**
 * A fault, and the time during which it lasted.
 *
 * @param to when the fault ended: for a killed worker, when the process was dead; for other faults, when everything
 * worked again
 */
record Outage(Kind kind, Instant from, Instant to) {
    enum Kind {
        WORKER_KILLED("a worker killed with SIGKILL, and started again"),
        SERVER_KILLED("the server killed with SIGKILL, and started again on its database"),
        CONNECTION_CUT("all connections of a worker or of the clients closed, and new ones refused"),
        CONNECTION_SILENT("all connections of a worker or of the clients kept, and everything sent is lost");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        String words() {
            return words;
        }
    }

    /** Returns whether the fault overlaps the time from {@code begin} to {@code end}. */
    boolean touches(Instant begin, Instant end) {
        return !begin.isAfter(to) && !end.isBefore(from);
    }
}
