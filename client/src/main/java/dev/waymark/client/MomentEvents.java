package dev.waymark.client;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.saving.VersionSteps;
import dev.waymark.timeline.Moment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Derives the events of a thread from its moments, in order, and from whether workers are absent. */
final class MomentEvents {
    private final String thread;
    private final VersionSteps steps = new VersionSteps();
    /** Whether the initial state was reported, or need not be reported. */
    private boolean begun;

    private boolean toldOfAbsence;

    /** @param begun whether the first moment is not the beginning of the thread */
    MomentEvents(String thread, boolean begun) {
        this.thread = thread;
        this.begun = begun;
    }

    /** Returns the events of the next moment. */
    List<ThreadEvent> of(Moment moment) {
        List<ThreadEvent> events = new ArrayList<>();
        events.add(new ThreadEvent.Happened(moment));
        if (!begun && moment.fact().isEmpty()) {
            events.add(ThreadEvent.Loaded.of(thread, moment));
        }
        if (steps.isNew(moment)) {
            events.add(ThreadEvent.Saved.of(thread, moment));
        }
        begun = true;
        return events;
    }

    /** Returns an event if the absence of workers has changed since it was last reported. */
    Optional<ThreadEvent> of(Optional<WaymarkException.NoWorker> absence) {
        if (absence.isPresent() == toldOfAbsence) {
            return Optional.empty();
        }
        toldOfAbsence = absence.isPresent();
        return Optional.of(new ThreadEvent.WorkersChanged(absence));
    }
}
