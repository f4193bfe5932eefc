package dev.waymark.client;

import dev.waymark.history.Moment;

/** Tells a watcher of moments, and of the checkpoints among them. */
final class WatcherNotifier {
    private final String thread;
    private final Watcher watcher;
    private final VersionSteps steps = new VersionSteps();
    /** What the thread began with is not known any more, or was told. */
    private boolean begun;

    WatcherNotifier(String thread, boolean isCut, Watcher watcher) {
        this.thread = thread;
        this.begun = isCut;
        this.watcher = watcher;
    }

    /** Returns whether to go on. */
    boolean tell(Moment moment) {
        boolean isLoaded = !begun && moment.fact().isEmpty();
        boolean isNew = steps.isNew(moment);
        begun = true;
        return watcher.happened(moment)
                && (!isLoaded || watcher.loaded(CheckpointLoaded.of(thread, moment)))
                && (!isNew || watcher.saved(CheckpointSaved.of(thread, moment)));
    }
}
