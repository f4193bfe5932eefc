package dev.waymark.client.schedule;

import java.util.Optional;

/**
 * The result of a request to start a thread of a schedule now.
 *
 * @param thread the new thread, or the open one that it waits for or that prevents it
 */
public record ScheduleTrigger(Result result, Optional<String> thread) {
    /** The result of the request. */
    public enum Result {
        /** The thread has started. */
        STARTED,
        /** The thread starts when another one of this schedule has closed. */
        WAITING,
        /** Nothing starts, because another thread of this schedule is open. */
        SKIPPED,
        /** The server has stored the request, and has not handled it in time. */
        REQUESTED
    }
}
