package dev.waymark.client.save;

import dev.waymark.history.Moment;

/** Detects the moments at which a thread reaches a new version. It must be given every moment, in order. */
public final class VersionSteps {
    private String runId = "";
    private int reached;

    /** A run that starts with a state starts with its version count; a reset lowers the count. */
    public boolean isNew(Moment moment) {
        int versions = moment.state().counters().versions();
        if (!moment.runId().equals(runId)) {
            runId = moment.runId();
            reached = moment.fact().isPresent() ? 0 : versions;
        }
        boolean isNew = versions > reached;
        reached = versions;
        return isNew;
    }
}
