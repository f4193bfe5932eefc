package dev.waymark.client.watch;

import dev.waymark.client.save.CheckpointLoaded;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.VersionSteps;
import dev.waymark.history.Moment;

/** Reports moments, and the checkpoints among them, to a watcher. */
public final class WatcherNotifier {
    private final String thread;
    private final Watcher watcher;
    private final VersionSteps steps = new VersionSteps();
    /** Whether the initial state was reported, or is unknown because history is cut. */
    private boolean begun;

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
}
