package dev.waymark.client.saving;

import dev.waymark.timeline.Moment;

/** Detects the moments at which a thread reaches a new version. Must be given every moment, in order. */
public final class VersionSteps {
    private String runId = "";
    private int reached;

    /**
     * Returns whether the thread reaches a new version at this moment. A run that starts with a carried state starts
     * with the version count of this state; a reset lowers the count.
     */
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
