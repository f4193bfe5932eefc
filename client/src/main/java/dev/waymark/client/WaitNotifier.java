package dev.waymark.client;

import dev.waymark.client.connection.WaitThreads;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.VersionSteps;
import dev.waymark.client.watch.LiveText;
import dev.waymark.client.watch.Watcher;
import dev.waymark.client.watch.WatcherNotifier;
import dev.waymark.history.Moment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Reports the events of a turn to a watcher while its outcome is awaited. */
final class WaitNotifier {
    /** Reports absent workers to any watcher. */
    private final Optional<WatcherNotifier> workers;
    /** The watcher, if it wants more. */
    private final Optional<Watcher> watcher;

    private final OutcomeDetector waiting;
    private final LiveText words;
    private final String thread;
    private final VersionSteps steps = new VersionSteps();

    WaitNotifier(ClientContext context, String thread, OutcomeDetector waiting) {
        this.workers = context.watcher().map(told -> new WatcherNotifier(thread, false, told));
        this.watcher = context.watcher().filter(Watcher::followsSteps);
        this.waiting = waiting;
        this.thread = thread;
        this.words = context.liveText(thread);
    }

    /** Returns how long to wait for events: this long, or less if {@link #ask} has to be called earlier. */
    long millis(long most) {
        return watcher.isPresent() ? Math.min(most, words.millisToNext()) : most;
    }

    /** Requests what is new in a reply if that is due. Completes when it has arrived, and never if none is requested. */
    CompletableFuture<?> ask() {
        return watcher.isPresent() ? words.ask() : new CompletableFuture<>();
    }

    void cancel() {
        words.cancel();
    }

    /** Tells that no worker takes the work, and takes that back once it is no longer true. */
    void tell(Optional<WaymarkException.NoWorker> absence) {
        workers.filter(told -> told.isNews(absence)).ifPresent(told -> WaitThreads.blocking(() -> told.tell(absence)));
    }

    void tell(List<Moment> moments) {
        if (watcher.isEmpty()) {
            return;
        }
        for (Moment moment : moments) {
            boolean isVersion = steps.isNew(moment);
            if (waiting.isOn(moment.state())) {
                words.follow(moment);
                watcher.get().happened(moment);
                if (isVersion) {
                    watcher.get().saved(CheckpointSaved.of(thread, moment));
                }
            }
        }
        words.tell(watcher.get());
    }
}
