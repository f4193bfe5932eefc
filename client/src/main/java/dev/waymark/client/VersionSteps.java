package dev.waymark.client;

import dev.waymark.history.Moment;

/** Tells the moments at which a thread came to another version from all others. It is shown every moment, in order. */
final class VersionSteps {
    private String runId = "";
    private int reached;

    /** A run that goes on with a state begins with its versions; a reset goes back on some. */
    boolean isNew(Moment moment) {
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
