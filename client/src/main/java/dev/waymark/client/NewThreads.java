package dev.waymark.client;

import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.timeline.Timeline;
import java.util.Optional;

/** Starts threads with free ids, and determines whether an id is free. */
final class NewThreads {
    private final ClientContext context;

    NewThreads(ClientContext context) {
        this.context = context;
    }

    /**
     * Starts a thread; returns empty if one with this id exists. If several clients make the same request concurrently
     * for an id that has become free, one thread is started, and all of them get its run.
     *
     * @param copiedFrom the thread whose conversation the new one begins with
     */
    Optional<String> start(
            String thread, StartInput input, Optional<String> copiedFrom, String requestId, WaitDeadline deadline) {
        Optional<String> other = copiedFrom.filter(source -> !source.equals(thread));
        Requests requests = context.requests();
        return requests.inTurn(
                () -> requests.start(thread, input, other)
                        .or(() -> refusedRun(thread)
                                .flatMap(refused ->
                                        requests.startAnew(thread, input, other, requestId + "/" + refused))),
                deadline);
    }

    /**
     * Returns whether the server has the thread. A thread that was forgotten, or whose agent was not found, does not
     * count.
     */
    boolean isHere(String thread) {
        return context.requests()
                .find(thread)
                .filter(known -> known.open() || !isFree(thread, known))
                .isPresent();
    }

    boolean isFree(String thread, Requests.Known closed) {
        return context.requests().isForgotten(thread, closed)
                || refusedRun(thread).isPresent();
    }

    /**
     * Returns the run of a thread that closed because its agent was not found. Such a thread did nothing, so its id is
     * free.
     */
    Optional<String> refusedRun(String thread) {
        return Optional.of(context.read(thread)).filter(Timeline::lacksAgent).map(Timeline::runId);
    }

    /**
     * Checks that a new thread with this name would survive a restart of the server, or is allowed to be lost.
     *
     * @throws WaymarkException.VolatileStore if the server keeps everything in memory, this client has no saver, and
     * {@code volatileAllowed} is false
     */
    void checkThatItLasts(String thread, boolean volatileAllowed) {
        if (context.connection().isInMemory()
                && !volatileAllowed
                && context.saving().isEmpty()) {
            throw new WaymarkException.VolatileStore(
                    "this server forgets everything when it stops: " + thread,
                    Remedy.of(Remedy.Action.SAVE_OR_ALLOW_LOSS, thread));
        }
    }
}
