package dev.waymark.client;

import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.ResumeOptions;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Requests that return as soon as the server or the thread has accepted them, for callers that do not wait for
 * outcomes, such as servers.
 */
public final class ThreadRequests {
    private final ThreadStarter starter;
    private final ThreadResumer resumer;
    private final ThreadSender sender;
    private final OutcomeSaver saves;

    ThreadRequests(ThreadStarter starter, ThreadResumer resumer, ThreadSender sender, OutcomeSaver saves) {
        this.starter = starter;
        this.resumer = resumer;
        this.sender = sender;
        this.saves = saves;
    }

    /**
     * Starts the thread that the prompt names, unless the same prompt has started it before. Durable on return; needs
     * no worker.
     *
     * @throws WaymarkException.Refused with type {@code KeyReused} if another prompt has started a thread with this id
     */
    public Begun begin(Prompt prompt, NewThreadOptions how) {
        return starter.begin(prompt, how);
    }

    /**
     * A thread that was started.
     *
     * @param again whether an earlier request had started it
     */
    public record Begun(AgentClient.Started started, boolean again) {}

    /**
     * Resumes a closed thread without waiting for the outcome. Returns the closed thread itself if its turn is complete
     * and the options contain neither an answer nor a thread id.
     */
    public AgentClient.Started resumeOnly(String thread, ResumeOptions how) {
        return saved(resumer.resume(thread, how));
    }

    /**
     * Resumes a checkpoint without waiting for the outcome. Returns empty, and starts nothing, if the turn in the
     * checkpoint is complete and the options contain neither an answer nor a thread id.
     */
    public Optional<AgentClient.Started> resumeOnly(byte[] checkpoint, String place, ResumeOptions how) {
        PendingTurn turn = resumer.resume(checkpoint, place, how);
        return turn.isStarted() ? Optional.of(saved(turn)) : Optional.empty();
    }

    /**
     * Returns the calls of a checkpoint that somebody should look at before it is resumed: calls that were never
     * started, and calls with an unknown outcome. Starts nothing.
     *
     * @param place the origin of the checkpoint, for the messages of failures
     */
    public CheckpointReview review(byte[] checkpoint, String place, ResumeOptions how) {
        return resumer.review(checkpoint, place, how);
    }

    /**
     * Returns the closed thread that a checkpoint shows exactly as this server has it, if that thread has calls to carry
     * out. {@link #resumeOnly(String, ResumeOptions)} then continues it from its history, so that nothing of the
     * checkpoint has to be trusted. Empty if any value differs, and for formats that name no thread. Starts nothing.
     *
     * @param place the origin of the checkpoint, for the messages of failures
     * @param isReadable whether the caller may read the thread with this id. No other thread is read.
     */
    public Optional<String> closedThreadOf(byte[] checkpoint, String place, Predicate<String> isReadable) {
        return resumer.closedThreadOf(checkpoint, place, isReadable);
    }

    /**
     * Forks a thread without waiting for an outcome. If the options contain no message, nothing runs in the new thread
     * until it gets a message or an answer.
     */
    public Forked forkOnly(String thread, ForkOptions how) {
        ThreadResumer.ForkedTurn forked = resumer.fork(thread, how);
        return new Forked(forked.status(), saved(forked.turn()), forked.at());
    }

    /**
     * A thread that a fork created.
     *
     * @param status the status of the new thread's turn; {@code stopped} if the other thread was in the middle of a
     * turn
     * @param at the event of the other thread that was copied, as {@code RUNID/eN}
     */
    public record Forked(String status, AgentClient.Started started, String at) {}

    /**
     * Sends a message without waiting for an outcome, for callers that use {@link AgentClient#watch}. The thread has
     * accepted the message when this method returns.
     *
     * @throws WaymarkException.Refused with type {@code KeyReused} if another message was sent with the same id
     */
    public Posted post(String thread, OutboundMessage message) {
        return sender.post(thread, message);
    }

    /**
     * Sends several messages in this order, such as the answers to all questions of a turn. All are checked against the
     * thread's history before the first one is sent, so that none is sent if one is refused. If the thread changes in
     * the meantime and refuses a message, the messages before that one have been sent. Sending them again is harmless.
     */
    public List<Posted> postAll(String thread, List<OutboundMessage> messages) {
        return sender.postAll(thread, messages);
    }

    /** The run that accepted a message, and the number of the resulting fact. */
    public record Posted(String runId, int fact) {}

    /**
     * Requests the cancellation of the thread, without waiting for its end. Returns the run that received the request.
     */
    public String requestCancel(String thread) {
        return sender.cancel(thread).runId();
    }

    /** Saves a thread that has started, which the wait for its outcome does otherwise. */
    private AgentClient.Started saved(PendingTurn turn) {
        if (turn.isStarted()) {
            saves.save(turn.thread());
        }
        return turn.started();
    }
}
