package dev.waymark.client;

import dev.waymark.checkpoint.ThreadCheckpoint;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.saver.SaverException;
import dev.waymark.thread.StatusReport;
import dev.waymark.timeline.Moment;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Something that happens in a thread, or to the client that follows it. {@link AgentClient#watch} and {@link ThreadWatch}
 * report what happens in a thread; {@link AgentClient#watchedBy} and {@link AgentClient#stream} also what happens to the
 * wait for a turn, and to its checkpoints.
 */
public sealed interface ThreadEvent {
    /** Something new is in the history of the thread: a reply, a call, a result, a decision. */
    record Happened(Moment moment) implements ThreadEvent {}

    /** The model is streaming its reply. The complete reply follows in {@link Happened}. */
    record Said(TextDelta words) implements ThreadEvent {}

    /** The model is streaming the reasoning that it shows. The complete reply has it, too. */
    record Reasoned(TextDelta words) implements ThreadEvent {}

    /**
     * Calls of a reply run together with the model call, or one of them has ended. Only calls that are safe to retry do.
     * They are not in history yet: the reply, the calls and their results follow once all of them have ended.
     *
     * @param eventId the event of the model call
     * @param calls in the order of the reply; empty if the attempt that ran them was lost
     */
    record CallsRunning(String runId, long eventId, Instant at, int attempt, List<RunningCall> calls)
            implements ThreadEvent {
        public CallsRunning {
            calls = List.copyOf(calls);
        }
    }

    /** A person is asked: to answer, to approve a call, or to settle an unknown outcome. Reported once for a request, to clients that wait. */
    record Asked(PendingItem request) implements ThreadEvent {}

    /**
     * The thread started with an existing conversation: it was resumed, restored or forked. A client that waits reports
     * it if it restored the thread from its saver.
     *
     * @param messagesCount the number of messages that the thread started with, counted as in the {@code thread}
     *     format, including the answer with which it was resumed
     */
    record Loaded(String runId, long eventId, Instant at, String threadId, int step, int messagesCount)
            implements ThreadEvent {
        static Loaded of(String thread, Moment moment) {
            return new Loaded(
                    moment.runId(),
                    moment.eventId(),
                    moment.at(),
                    thread,
                    stepsAt(moment),
                    ThreadCheckpoint.messageCount(moment.state()));
        }
    }

    /**
     * A thread reached a new version, and it is stored: a step completed, a turn ended, or a person was asked. A step
     * that asks a person is reported twice: when it asks, and when it has its answers.
     *
     * <p>The version is in the client's saver or, if the client has none, in the history of the server. In a watch, it
     * is always in history, at the event that was reported before: it can be shown and resumed from now on, even if
     * every process dies.
     *
     * @param step the number of model calls over the thread's whole life
     */
    record Saved(String runId, long eventId, Instant at, String threadId, int step) implements ThreadEvent {
        static Saved of(String thread, Moment moment) {
            return new Saved(moment.runId(), moment.eventId(), moment.at(), thread, stepsAt(moment));
        }
    }

    /**
     * The client's saver failed. The thread continues, and the save is retried. Problems of one kind are reported once,
     * and again after ten minutes without them.
     */
    record SaveFailed(SaverException problem) implements ThreadEvent {}

    /** The newest checkpoint of this thread will not be saved; {@link SaveFailed} had the reason. */
    record Unsaved(String threadId) implements ThreadEvent {}

    /**
     * Work has been due for at least ten seconds, and no worker takes it. If {@code absence} is empty, workers take it
     * again. Not reported for activities on the in-memory server, where an activity that waits for a worker looks like
     * one that runs. A wait for an outcome continues, and fails if no worker asks for work for over a minute.
     */
    record WorkersChanged(Optional<WaymarkException.NoWorker> absence) implements ThreadEvent {}

    /**
     * The status of the thread has changed, and no worker has recorded that yet, for example because the only worker is
     * gone. Lists and snapshots show this status too. The moments follow when a worker takes the thread's work. Reported
     * by watches.
     *
     * @param waiting the requests that wait for a person, in call order
     */
    record StatusChanged(String status, String phase, List<Waiting> waiting) implements ThreadEvent {
        public StatusChanged {
            waiting = List.copyOf(waiting);
        }

        /** A request that waits for a person: its call, the kind of a {@code PendingItem}, and the tool that was called. */
        public record Waiting(String callId, String kind, String tool) {}

        static StatusChanged to(Conversation state) {
            StatusReport report = ThreadStatus.of(state);
            return new StatusChanged(
                    report.status(),
                    report.phase(),
                    state.asks().stream()
                            .map(ask -> new Waiting(ask.callId(), ask.kind().wireName(), ask.tool()))
                            .toList());
        }
    }

    /**
     * Earlier events are no longer all in the history: the thread was reset, or the history of the last event was
     * deleted. The remaining history follows from its beginning. Reported by watches.
     */
    record Restarted() implements ThreadEvent {}

    /** The client waits for a turn of this thread. Missing if the outcome of the turn was known already. */
    record WaitBegan(String threadId) implements ThreadEvent {}

    /** The wait has ended, with or without an outcome. */
    record WaitEnded(String threadId) implements ThreadEvent {}

    /** The turn has ended, or waits for a person. The last event of {@link AgentClient#stream}, reported only there. */
    record Ended(AgentResult result) implements ThreadEvent {}

    /**
     * The next piece of the text, or of the reasoning, of a reply that is still streaming. A new attempt restarts the
     * reply: what earlier attempts said must be discarded, and the piece may be empty.
     *
     * @param eventId the event of the model call
     * @param from the number of characters of the attempt before this text; text and reasoning are counted separately
     */
    record TextDelta(String runId, long eventId, Instant at, int attempt, int from, String text) {}

    /** A call that runs together with the model call. */
    record RunningCall(String callId, String tool) {}

    private static int stepsAt(Moment moment) {
        return Math.max(1, moment.state().counters().steps());
    }
}
