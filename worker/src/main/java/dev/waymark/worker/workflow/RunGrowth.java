package dev.waymark.worker.workflow;

import dev.waymark.contract.RunLimits;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.AgentPolicy;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInfo;

/** Decides when the thread should continue in a new run: when this one is large, or another build should go on. */
final class RunGrowth {
    /** Approximate size of a call in the log of calls. */
    private static final long BYTES_OF_CALL = 200;

    /** Approximate size of the id and the turn that remain of a call after a summary dropped it. */
    private static final long BYTES_OF_DROPPED_CALL = 40;

    /** The server logs warnings from 10,240 events on. */
    private static final long MOST_EVENTS_WAITING = 10_000;

    private static final long MOST_BYTES_WAITING = 12L * 1024 * 1024;

    private final RunLimits limits;
    private int updates;
    private int signals;
    private long leastEvents;

    /** A limit that a run has reached. */
    enum Limit {
        NONE,
        /** The run is pinned to a build, and the server wants another build to go on as soon as nothing is running. */
        BUILD,
        /** The thread should continue in a new run as soon as nothing is running. */
        SOFT,
        /** Nothing new may start in this run. */
        HARD
    }

    RunGrowth(RunLimits limits) {
        this.limits = limits;
    }

    void countUpdate() {
        updates++;
    }

    void countSignal() {
        signals++;
    }

    /** Puts the soft limit off until the history is twice as long, because the state does not fit into a new run. */
    void didNotFit() {
        leastEvents = 2 * Workflow.getInfo().getHistoryLength();
    }

    /**
     * The limit that this run has reached. It never leaves the hard limit.
     *
     * @param begunWith the size of the history when the previous run's state had arrived; 0 if it came with the input
     */
    Limit limit(Conversation state, long begunWith) {
        if (isAtHardLimit()) {
            return Limit.HARD;
        }
        if (Workflow.getInfo().getHistoryLength() < leastEvents) {
            return Limit.NONE;
        }
        if (suggestsNextRun(state, begunWith)) {
            return Limit.SOFT;
        }
        return Workflow.getInfo().isTargetWorkerDeploymentVersionChanged() ? Limit.BUILD : Limit.NONE;
    }

    private boolean isAtHardLimit() {
        WorkflowInfo info = Workflow.getInfo();
        return info.getHistoryLength() >= limits.hardEvents()
                || info.getHistorySize() >= limits.hardBytes()
                || updates >= limits.hardUpdates()
                || signals >= limits.hardSignals();
    }

    private boolean suggestsNextRun(Conversation state, long begunWith) {
        WorkflowInfo info = Workflow.getInfo();
        return (info.isContinueAsNewSuggested() && pays(info, state, begunWith))
                || info.getHistoryLength() >= limits.softEvents();
    }

    /**
     * Whether the history is large compared with the state, which the server stores with the end of this run and again
     * with the start of the next. A conversation is smallest after a summary, so a run that expects a summary waits for
     * it, within limits.
     */
    private static boolean pays(WorkflowInfo info, Conversation state, long begunWith) {
        long carried = Math.max(begunWith, state.transcript().bytes());
        if (info.getHistorySize() < 2 * carried) {
            return false;
        }
        // A summary shortens the log of calls less than the transcript.
        long logged = BYTES_OF_CALL * state.calls().size()
                + BYTES_OF_DROPPED_CALL * state.callBook().countDropped();
        return info.getHistorySize() >= 8 * (carried + logged)
                || state.policy().flatMap(AgentPolicy::summaries).isEmpty()
                || info.getHistoryLength() >= MOST_EVENTS_WAITING
                || info.getHistorySize() >= MOST_BYTES_WAITING;
    }
}
