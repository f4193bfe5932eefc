package dev.waymark.client.saving;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.history.Projector;
import dev.waymark.saver.CheckpointOwner;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import java.util.List;
import java.util.Optional;

/** A thread at one of its moments, with the data that a saver stores. */
public record ThreadSnapshot(
        String thread, Moment moment, Optional<AgentSpec> agent, Optional<RunEnding> ending, String firstRunId) {
    public static ThreadSnapshot of(String thread, Moment moment, Projector run) {
        return new ThreadSnapshot(thread, moment, run.agent(), run.ending(), run.firstRunId());
    }

    /**
     * Returns the newest version of a thread, or its initial state; empty if it has neither, or if its agent was not
     * found.
     */
    public static Optional<ThreadSnapshot> of(Timeline timeline, String firstRunId) {
        VersionSteps steps = new VersionSteps();
        Optional<Moment> newest = Optional.empty();
        for (Moment moment : timeline.moments()) {
            boolean isFirst = newest.isEmpty() && moment.fact().isEmpty();
            newest = steps.isNew(moment) || isFirst ? Optional.of(moment) : newest;
        }
        // A thread whose agent was not found has done nothing: the checkpoint that it started from is better.
        return newest.filter(moment -> !moment.state().lacksAgent())
                .map(moment ->
                        new ThreadSnapshot(timeline.thread(), moment, timeline.agent(), timeline.ending(), firstRunId));
    }

    /** Returns this thread as the first owner of its entry in a saver. */
    CheckpointOwner owner() {
        Conversation state = moment.state();
        return CheckpointOwner.first(firstRunId, state.agent(), state.session().orElse(thread));
    }

    /** Returns a timeline with this moment only, which is all that checkpoints of its state need. */
    Timeline timeline() {
        return new Timeline(
                thread, moment.runId(), List.of(moment), moment.state(), agent, ending, moment.eventId(), false);
    }
}
