package dev.waymark.client.connection;

import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import java.util.Optional;

/** Limits a wait by the caller's timeout, and ends it when no worker is available. */
public final class WaitPolicy {
    private static final long LONGEST_WAIT_MILLIS = 20_000;
    private static final long SHORTEST_WAIT_MILLIS = 500;

    private final Requests requests;
    private final String thread;
    private final WaitDeadline deadline;
    private Optional<WaitDeadline> worker = Optional.empty();
    private Optional<Long> task = Optional.empty();
    private long lastEventId;
    private WaitDeadline silence = WaitDeadline.after(Requests.WORKER_WAIT);

    public WaitPolicy(Requests requests, String thread, WaitDeadline deadline) {
        this.requests = requests;
        this.thread = thread;
        this.deadline = deadline;
    }

    public long millis() {
        long most = Math.min(LONGEST_WAIT_MILLIS, deadline.millisLeft());
        // If many callers wait, shorter waits would cost a request for each of their threads and find nothing new.
        return worker.map(until -> Math.min(most, Math.max(SHORTEST_WAIT_MILLIS, until.millisLeft())))
                .orElse(most);
    }

    public void check(MomentStream feed) {
        absence(feed).ifPresent(absence -> {
            throw absence;
        });
        if (deadline.isPast()) {
            throw new WaymarkException.TimedOut(
                    "the turn is still running: " + thread, Remedy.of(Remedy.Action.WAIT_FOR_RESULT, thread), thread);
        }
    }

    /** Returns the failure to report if work has been waiting too long for a worker. */
    public Optional<WaymarkException.NoWorker> absence(MomentStream feed) {
        Optional<Long> waiting = feed.run().waitingTask();
        if (!waiting.equals(task)) {
            // A worker has taken the task that was waiting before.
            worker = waiting.map(next -> WaitDeadline.after(Requests.WORKER_WAIT));
            task = waiting;
        }
        if (worker.filter(WaitDeadline::isPast).isPresent() && requests.isQueueServed()) {
            worker = Optional.of(WaitDeadline.after(Requests.WORKER_WAIT));
        }
        boolean isAbsent = worker.isPresent() ? worker.get().isPast() : isLeftAlone(feed);
        if (!isAbsent) {
            return Optional.empty();
        }
        return Optional.of(new WaymarkException.NoWorker(
                "no worker took the work within " + Requests.WORKER_WAIT.toSeconds() + " s: " + thread,
                Remedy.of(Remedy.Action.START_WORKER, thread),
                thread));
    }

    /** Returns whether nothing has happened for a while, not even a workflow task, and no worker is available. */
    private boolean isLeftAlone(MomentStream feed) {
        if (feed.run().lastEventId() == lastEventId && !silence.isPast()) {
            return false;
        }
        boolean silent = feed.run().lastEventId() == lastEventId;
        lastEventId = feed.run().lastEventId();
        silence = WaitDeadline.after(Requests.WORKER_WAIT);
        return silent && requests.activityAwaitsWorker(thread);
    }
}
