package dev.waymark.client;

import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitThreads;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/** Examines single threads and checkpoints. Needs no worker. */
public final class ThreadInspector {
    /** How long one read of a watch may last. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final ClientContext context;
    private final ThreadResumer resumer;

    ThreadInspector(ClientContext context, ThreadResumer resumer) {
        this.context = context;
        this.resumer = resumer;
    }

    /** The requests of this thread that wait for a person. */
    List<PendingItem> pending(String thread) {
        return timeline(thread).pending();
    }

    /** The history of a thread, as far as the server still has it. */
    Timeline timeline(String thread) {
        return context.translated(() -> context.read(RequestLimits.thread(thread)));
    }

    /** The calls of the newest reply that run together with the model call. They are not in history yet. */
    public List<ThreadEvent.RunningCall> running(Timeline timeline) {
        return timeline.now().modelCalled() && timeline.ending().isEmpty()
                ? context.translated(() -> context.liveText(timeline.thread())
                        .running(timeline.now().counters().steps()))
                : List.of();
    }

    /** Reports all events in history and all new ones, until the thread closes or the listener ends the watch. */
    void watch(String thread, Predicate<ThreadEvent> listener) {
        try (ThreadWatch watch = openWatch(thread, Optional.empty(), WaitThreads.forCaller())) {
            boolean goesOn = true;
            while (goesOn && !watch.isOver()) {
                goesOn = Sleeper.until(watch.next(PATIENCE)).stream().allMatch(item -> listener.test(item.event()));
            }
        }
    }

    /**
     * Opens a watch that occupies no Java thread while nothing happens.
     *
     * @param after the id of the last event that the caller received from an earlier watch of the thread, if any
     * @param executor runs the reads, which send short requests to the server
     */
    public ThreadWatch openWatch(String thread, Optional<String> after, Executor executor) {
        return context.translated(() -> ThreadWatch.open(context, RequestLimits.thread(thread), after, executor));
    }

    /**
     * Compares the projection of the thread's history with the states that its workflow recorded, and, if a worker
     * answers, with the workflow's current state.
     */
    public Verification verify(String thread) {
        return context.translated(() -> {
            context.get(RequestLimits.thread(thread));
            return new Verifier(context.requests(), context.histories()).verify(thread);
        });
    }

    /**
     * Returns the calls of a checkpoint that somebody should look at before it is resumed: calls that were never
     * started, and calls with an unknown outcome. Starts nothing.
     *
     * @param how the options with which the checkpoint would be resumed
     */
    public CheckpointReview review(byte[] checkpoint, ResumeOptions how) {
        return resumer.review(checkpoint, how);
    }

    /**
     * Returns a tracer that turns threads into OpenTelemetry spans.
     *
     * @param content whether the spans contain messages, arguments and results
     */
    public ThreadTracer tracer(boolean content) {
        return new ThreadTracer(context, content);
    }
}
