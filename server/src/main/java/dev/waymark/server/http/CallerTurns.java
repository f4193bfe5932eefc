package dev.waymark.server.http;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Executor;

/**
 * Lets each caller occupy only some of the server's threads, because a request may wait for a worker for seconds. A
 * caller's further requests wait for its earlier ones, without a thread. Thread-safe.
 */
final class CallerTurns {
    private final int mostRunning;
    private final int mostWaiting;
    private final Map<String, Turns> callers = new HashMap<>();

    /**
     * @param mostRunning the maximum number of a caller's requests that run at a time
     * @param mostWaiting the maximum number of a caller's requests that wait to run
     */
    CallerTurns(int mostRunning, int mostWaiting) {
        this.mostRunning = mostRunning;
        this.mostWaiting = mostWaiting;
    }

    /** The requests of a caller. */
    private static final class Turns {
        private final Queue<Runnable> waiting = new ArrayDeque<>();
        private int running;
    }

    /**
     * Runs a task of this caller: now, or by the executor once an earlier one has ended.
     *
     * @throws HttpProblem if too many are waiting
     */
    void run(String caller, Executor executor, Runnable task) {
        if (mayRunNow(caller, task)) {
            runThenNext(caller, executor, task);
        }
    }

    private synchronized boolean mayRunNow(String caller, Runnable task) {
        Turns turns = callers.computeIfAbsent(caller, name -> new Turns());
        if (turns.running < mostRunning) {
            turns.running++;
            return true;
        }
        if (turns.waiting.size() == mostWaiting) {
            throw HttpProblem.tooManyRequests(
                    "more than " + (mostRunning + mostWaiting) + " requests at a time, which wait for each other");
        }
        turns.waiting.add(task);
        return false;
    }

    private void runThenNext(String caller, Executor executor, Runnable task) {
        try {
            task.run();
        } finally {
            next(caller).ifPresent(next -> executor.execute(() -> runThenNext(caller, executor, next)));
        }
    }

    private synchronized Optional<Runnable> next(String caller) {
        Turns turns = callers.get(caller);
        if (turns == null) {
            return Optional.empty();
        }
        Optional<Runnable> next = Optional.ofNullable(turns.waiting.poll());
        if (next.isEmpty()) {
            turns.running--;
            if (turns.running == 0) {
                callers.remove(caller);
            }
        }
        return next;
    }
}
