package dev.waymark.client.schedule;

import dev.waymark.thread.ThreadOwner;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A schedule on the server.
 *
 * @param message the text of the message that each thread starts with
 * @param owner the owner of its threads
 * @param note why the schedule is paused
 */
public record AgentSchedule(
        String name,
        String agent,
        Optional<String> message,
        Optional<ThreadOwner> owner,
        Timing timing,
        boolean paused,
        Optional<String> note,
        Starts starts) {

    /**
     * When threads start.
     *
     * @param recurrence empty if another program has created the schedule
     * @param overlap empty if another program has chosen a policy that is not in {@link OverlapPolicy}
     */
    public record Timing(
            Optional<Recurrence> recurrence, String timezone, Optional<OverlapPolicy> overlap, Duration jitter) {}

    /**
     * What has started and will start.
     *
     * @param next the next times, if the schedule is not paused
     * @param running the open threads that the next one waits for or replaces
     * @param runs the last threads, newest first
     * @param started how many threads have started
     * @param skipped how many times were skipped because a thread was open
     */
    public record Starts(List<Instant> next, List<String> running, List<Run> runs, long started, long skipped) {
        public Starts {
            next = List.copyOf(next);
            running = List.copyOf(running);
            runs = List.copyOf(runs);
        }
    }

    /**
     * A thread that the schedule has started.
     *
     * @param time the time for which it was started
     * @param startedAt when it was started
     * @param outcome the status of its turn; empty if the thread was not read, is gone, or was forgotten
     */
    public record Run(String thread, Instant time, Instant startedAt, Optional<String> outcome) {}
}
