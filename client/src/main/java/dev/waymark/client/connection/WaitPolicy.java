package dev.waymark.client.connection;

import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Limits a wait by the caller's timeout, and ends it when no worker is there. Meanwhile tells if none takes the work. */
public final class WaitPolicy {
    private static final long LONGEST_WAIT_MILLIS = 20_000;
    private static final long SHORTEST_WAIT_MILLIS = 500;

    private final Requests requests;
    private final String thread;
    private final WaitDeadline deadline;
    /** When to ask again whether workers are there; empty if no task of the thread waits for one. */
    private Optional<WaitDeadline> due = Optional.empty();

    private Optional<Long> task = Optional.empty();
    private long lastEventId;
    private WaitDeadline silence = WaitDeadline.after(Requests.WORKER_WAIT);
    private WorkerPresence workers = WorkerPresence.BUSY;
    /** The server's answer to where the workers are, until it is read. */
    private Optional<CompletableFuture<WorkerPresence>> asked = Optional.empty();

    public WaitPolicy(Requests requests, String thread, WaitDeadline deadline) {
        this.requests = requests;
        this.thread = thread;
        this.deadline = deadline;
    }

    /** Returns how long to wait at most before the next check, unless there are events or an {@link #answer}. */
    public long millis() {
        if (asked.isPresent()) {
            // At the deadline, the answer decides what the caller gets.
            return LONGEST_WAIT_MILLIS;
        }
        long most = Math.min(LONGEST_WAIT_MILLIS, deadline.millisLeft());
        // If many callers wait, shorter waits would cost a request for each of their threads and find nothing new.
        return due.map(until -> Math.min(most, Math.max(SHORTEST_WAIT_MILLIS, until.millisLeft())))
                .orElse(most);
    }

    /** Completes when the server has said where the workers are; never if it was not asked. */
    public CompletableFuture<?> answer() {
        return asked.<CompletableFuture<?>>map(answer -> answer).orElseGet(CompletableFuture::new);
    }

    /**
     * Returns what to tell the caller if work has been due for a while and no worker takes it. The wait goes on, because
     * a worker may come back.
     *
     * @throws WaymarkException.NoWorker if there is no worker, or none takes the work and the caller waits no longer
     * @throws WaymarkException.TimedOut if the caller waits no longer
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

    /** Returns what to tell if work has been due for a while and no worker takes it. */
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
            areBusy();
        }
        boolean isNew = feed.run().lastEventId() != lastEventId;
        if (isNew || silence.isPast()) {
            lastEventId = feed.run().lastEventId();
            silence = WaitDeadline.after(Requests.WORKER_WAIT);
            if (due.isEmpty() && isNew) {
                areBusy();
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

    /** Something has happened, so that an answer that is still to come is outdated. */
    private void areBusy() {
        workers = WorkerPresence.BUSY;
        asked = Optional.empty();
    }

    private void ask() {
        asked = Optional.of(requests.workers());
    }
}
