package dev.waymark.client;

import dev.waymark.client.connection.MomentStream;
import dev.waymark.client.connection.Sleeper;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.connection.WaitPolicy;
import dev.waymark.client.failure.RequestLimits;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.watch.LiveText;
import dev.waymark.client.watch.RunningCalls;
import dev.waymark.client.watch.Watcher;
import dev.waymark.client.watch.WatcherNotifier;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;

/** Examines single threads and checkpoints. Needs no worker. */
public final class ThreadInspector {
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
    public List<RunningCalls.Running> running(Timeline timeline) {
        return timeline.now().modelCalled() && timeline.ending().isEmpty()
                ? context.translated(() -> context.liveText(timeline.thread())
                        .running(timeline.now().counters().steps()))
                : List.of();
    }

    /** Reports all moments in history and all new ones, until the thread closes or the watcher ends the watch. */
    void watch(String thread, Watcher watcher) {
        context.translated(() -> {
            Timeline timeline = context.read(RequestLimits.thread(thread));
            List<Moment> earlier = timeline.moments().stream()
                    .filter(moment -> !moment.runId().equals(timeline.runId()))
                    .toList();
            LiveText words = context.liveText(thread);
            WaitPolicy policy = new WaitPolicy(context.requests(), thread, WaitDeadline.after(Optional.empty()));
            WatcherNotifier telling = new WatcherNotifier(thread, timeline.cut(), watcher);
            boolean goesOn = earlier.stream().allMatch(telling::tell);
            try (MomentStream feed = context.moments(thread, timeline.runId())) {
                while (goesOn && !feed.isClosed()) {
                    long most = Math.min(policy.millis(), words.millisToNext());
                    Sleeper.until(Sleeper.first(most, feed.ask(), policy.answer(), words.ask()));
                    List<Moment> next = feed.take();
                    next.forEach(words::follow);
                    goesOn = next.stream().allMatch(telling::tell)
                            && words.tell(watcher)
                            && telling.tell(policy.absence(feed));
                }
            } finally {
                words.cancel();
            }
            return thread;
        });
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
