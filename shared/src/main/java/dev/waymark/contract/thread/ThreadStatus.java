package dev.waymark.contract.thread;

import dev.waymark.conversation.Conversation;
import dev.waymark.thread.StatusReport;

/** The status of threads. */
public final class ThreadStatus {
    private ThreadStatus() {}

    /** The status of a thread in this state. */
    public static StatusReport of(Conversation state) {
        return new StatusReport(
                state.isInterrupted()
                        ? StatusReport.INTERRUPTED
                        : state.turn().status().wireName(),
                state.phase().wireName(),
                state.agent(),
                state.turn().number(),
                state.turn().iterations(),
                state.turn().usage(),
                state.queue().size(),
                state.ignored().count(),
                state.ignored().last(),
                state.cost());
    }
}
