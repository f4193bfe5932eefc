package dev.waymark.client;

import dev.waymark.client.connection.WaitThreads;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.VersionSteps;
import dev.waymark.client.watch.LiveText;
import dev.waymark.client.watch.Watcher;
import dev.waymark.history.Moment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Reports the events of a turn to a watcher while its outcome is awaited. */
final class WaitNotifier {
    private final Optional<Watcher> anyWatcher;
    /** The watcher, if it wants more than to be told of absent workers. */
    private final Optional<Watcher> watcher;

    private final OutcomeDetector waiting;
    private final LiveText words;
    private final String thread;
    private final VersionSteps steps = new VersionSteps();
    private boolean toldOfAbsence;

    WaitNotifier(ClientContext context, String thread, OutcomeDetector waiting) {
        this.anyWatcher = context.watcher();
        this.watcher = anyWatcher.filter(Watcher::followsSteps);
        this.waiting = waiting;
        this.thread = thread;
        this.words = new LiveText(context.connection(), context.histories(), thread);
    }

    /** Returns how long to wait for events: this long, or less if the next partial text is due earlier. */
    long millis(long most) {
        return watcher.isPresent() && words.areDue() && !words.isAsked() ? Math.min(most, words.millisToNext()) : most;
    }

    /** Requests partial text if it is due. Completes when it has arrived, and never if none is requested. */
    CompletableFuture<?> ask() {
        return watcher.isPresent() ? words.ask() : new CompletableFuture<>();
    }

    void cancel() {
        words.cancel();
    }

    /** Tells that no worker takes the work, and takes that back once it is no longer true. */
    void tell(Optional<WaymarkException.NoWorker> absence) {
        if (absence.isPresent() != toldOfAbsence) {
            toldOfAbsence = absence.isPresent();
            anyWatcher.ifPresent(told ->
                    WaitThreads.blocking(() -> absence.ifPresentOrElse(told::waitsForWorker, told::workerIsBack)));
        }
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
        words.take().ifPresent(watcher.get()::said);
    }
}
