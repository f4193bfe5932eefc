package dev.waymark.client.watch;

import dev.waymark.annotation.Internal;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.VersionSteps;
import dev.waymark.history.Moment;
import java.util.Optional;

/** Reports moments, the checkpoints among them, and whether workers are absent, to a watcher. */
@Internal
public final class WatcherNotifier {
    private final String thread;
    private final Watcher watcher;
    private final VersionSteps steps = new VersionSteps();
    /** Whether the initial state was reported, or is unknown because history is cut. */
    private boolean begun;

    private boolean toldOfAbsence;

    public WatcherNotifier(String thread, boolean isCut, Watcher watcher) {
        this.thread = thread;
        this.begun = isCut;
        this.watcher = watcher;
    }

    /** Reports a moment. Returns whether the watcher wants to continue. */
    public boolean tell(Moment moment) {
        boolean isLoaded = !begun && moment.fact().isEmpty();
        boolean isNew = steps.isNew(moment);
        begun = true;
        return watcher.happened(moment)
                && (!isLoaded || watcher.loaded(CheckpointLoaded.of(thread, moment)))
                && (!isNew || watcher.saved(CheckpointSaved.of(thread, moment)));
    }

    /** Whether the watcher was told otherwise. */
    public boolean isNews(Optional<WaymarkException.NoWorker> absence) {
        return absence.isPresent() != toldOfAbsence;
    }

    /**
     * Reports that no worker takes the work, and takes that back once it is no longer so. Returns whether the watcher
     * wants to continue.
     */
    public boolean tell(Optional<WaymarkException.NoWorker> absence) {
        if (!isNews(absence)) {
            return true;
        }
        toldOfAbsence = absence.isPresent();
        if (absence.isEmpty()) {
            watcher.workerIsBack();
        }
        return absence.map(watcher::waitsForWorker).orElse(true);
    }
}
