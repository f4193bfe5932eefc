package dev.waymark.client.connection;

import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Limits a wait by the caller's timeout, and ends it if there is no worker. Also reports that no worker takes the work.
 */
public final class WaitPolicy {
    private static final long LONGEST_WAIT_MILLIS = 20_000;
    private static final long SHORTEST_WAIT_MILLIS = 500;

    private final Requests requests;
    private final String thread;
    private final WaitDeadline deadline;
    /** When to check again for workers; empty if no task of the thread waits for one. */
    private Optional<WaitDeadline> due = Optional.empty();

    private Optional<Long> task = Optional.empty();
    private long lastEventId;
    private WaitDeadline silence = WaitDeadline.after(Requests.WORKER_WAIT);
    private WorkerPresence workers = WorkerPresence.BUSY;
    /** The server's answer about the presence of workers, until it is read. */
    private Optional<CompletableFuture<WorkerPresence>> asked = Optional.empty();

    public WaitPolicy(Requests requests, String thread, WaitDeadline deadline) {
        this.requests = requests;
        this.thread = thread;
        this.deadline = deadline;
    }

    /** Returns how long to wait at most before the next check, unless there are events or an {@link #answer}. */
    public long millis() {
        if (asked.isPresent()) {
            // At the deadline, the failure depends on the answer.
            return LONGEST_WAIT_MILLIS;
        }
        long most = Math.min(LONGEST_WAIT_MILLIS, deadline.millisLeft());
        // If many callers wait, shorter waits would cost a request for each of their threads and find nothing new.
        return due.map(until -> Math.min(most, Math.max(SHORTEST_WAIT_MILLIS, until.millisLeft())))
                .orElse(most);
    }

    /** Completes when the server has answered about the presence of workers; never if it was not asked. */
    public CompletableFuture<?> answer() {
        return asked.<CompletableFuture<?>>map(answer -> answer).orElseGet(CompletableFuture::new);
    }

    /**
     * Returns the failure to report if work has been due for a while and no worker takes it. The wait continues,
     * because a worker may come back.
     *
     * @throws WaymarkException.NoWorker if there is no worker, or none takes the work and the deadline has passed
     * @throws WaymarkException.TimedOut if the deadline has passed
     */
    public Optional<WaymarkException.NoWorker> check(MomentStream feed) {
        Optional<WaymarkException.NoWorker> quiet = absence(feed);
        if (workers == WorkerPresence.ABSENT || (quiet.isPresent() && deadline.isPast())) {
            throw quiet.orElseThrow();
        }
        if (deadline.isPast() && asked.isEmpty()) {
            throw new WaymarkException.TimedOut(
                    "the turn is still running: " + thread, Remedy.of(Remedy.Action.WAIT_FOR_RESULT, thread), thread);
        }
        return quiet;
    }

    /** Like {@link #check}, without a limit of the wait. */
    public Optional<WaymarkException.NoWorker> absence(MomentStream feed) {
        look(feed);
        if (!workers.isQuiet()) {
            return Optional.empty();
        }
        return Optional.of(new WaymarkException.NoWorker(
                "no worker takes the work: " + thread, Remedy.of(Remedy.Action.START_WORKER, thread), thread, true));
    }

    private void look(MomentStream feed) {
        Optional<Long> waiting = feed.run().waitingTask();
        if (!waiting.equals(task)) {
            task.ifPresent(before -> requests.taken());
            due = waiting.map(next -> WaitDeadline.after(Requests.WORKER_WAIT));
            task = waiting;
            assumeBusyWorkers();
        }
        boolean isNew = feed.run().lastEventId() != lastEventId;
        if (isNew || silence.isPast()) {
            lastEventId = feed.run().lastEventId();
            silence = WaitDeadline.after(Requests.WORKER_WAIT);
            if (due.isEmpty() && isNew) {
                assumeBusyWorkers();
            } else if (due.isEmpty()) {
                // Nothing has happened for a while, not even a workflow task.
                ask();
            }
        }
        if (due.filter(WaitDeadline::isPast).isPresent()) {
            due = Optional.of(WaitDeadline.after(Requests.WORKER_WAIT));
            ask();
        }
        asked.filter(CompletableFuture::isDone).map(CompletableFuture::join).ifPresent(presence -> {
            asked = Optional.empty();
            workers = due.isPresent() ? presence : requests.workersOfActivities(thread, presence);
        });
    }

    /** Assumes busy workers after an event, which makes a pending answer outdated. */
    private void assumeBusyWorkers() {
        workers = WorkerPresence.BUSY;
        asked = Optional.empty();
    }

    private void ask() {
        asked = Optional.of(requests.workers());
    }
}
