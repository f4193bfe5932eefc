package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.conversation.Conversation;
import dev.waymark.history.Moment;
import dev.waymark.history.Projector;
import dev.waymark.history.RunEnding;
import dev.waymark.history.Timeline;
import dev.waymark.saver.CheckpointOwner;
import java.util.List;
import java.util.Optional;

/** A thread at one of its moments, with as much as a saver keeps of it. */
record ThreadSnapshot(
        String thread, Moment moment, Optional<AgentSpec> agent, Optional<RunEnding> ending, String firstRunId) {
    static ThreadSnapshot of(String thread, Moment moment, Projector run) {
        return new ThreadSnapshot(thread, moment, run.agent(), run.ending(), run.firstRunId());
    }

    /** The newest version of a thread, or what it began with, if there is either. */
    static Optional<ThreadSnapshot> of(Timeline timeline, String firstRunId) {
        VersionSteps steps = new VersionSteps();
        Optional<Moment> newest = Optional.empty();
        for (Moment moment : timeline.moments()) {
            boolean isFirst = newest.isEmpty() && moment.fact().isEmpty();
            newest = steps.isNew(moment) || isFirst ? Optional.of(moment) : newest;
        }
        return newest.filter(moment -> !isOfNoUse(moment.state()))
                .map(moment ->
                        new ThreadSnapshot(timeline.thread(), moment, timeline.agent(), timeline.ending(), firstRunId));
    }

    /**
     * The thread ended because its agent could not be had. It has done nothing, and whatever it began with is in a better
     * state where it came from.
     */
    static boolean isOfNoUse(Conversation state) {
        return state.life() == Conversation.Life.CLOSING
                && state.agentRequested()
                && state.terms().isEmpty();
    }

    /** Who this thread is to a saver. */
    CheckpointOwner owner() {
        Conversation state = moment.state();
        return CheckpointOwner.first(firstRunId, state.agent(), state.session().orElse(thread));
    }

    /** All that the views of the present look at. */
    Timeline timeline() {
        return new Timeline(
                thread, moment.runId(), List.of(moment), moment.state(), agent, ending, moment.eventId(), false);
    }
}
