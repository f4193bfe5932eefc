package dev.waymark.client;

import dev.waymark.checkpoint.CheckpointFormat;
import dev.waymark.codec.KeyProblem;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.PendingItem;
import dev.waymark.contract.StatusReport;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Timeline;
import dev.waymark.saver.SaverException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Starts, answers and inspects threads from any process that reaches the Temporal server. A thread is known by its id:
 * nothing has to be kept between two calls, nor handed from one process to the next.
 *
 * <p>Methods that cause work wait for the outcome of the turn, which they read from history. A lost connection or a lost
 * caller never ends a turn; {@link #withTimeout} limits the wait. Sending a message with the same id twice is harmless.
 * Reading needs no worker. Thread-safe. Throws {@link WaymarkException} for everything that a caller can run into.
 *
 * <pre>{@code
 * try (AgentClient client = AgentClient.connect()) {
 *     AgentResult result = client.prompt("assistant", "Hello");
 *     System.out.println(AgentResult.assertComplete(result).text());
 * }
 * }</pre>
 */
public final class AgentClient implements AutoCloseable {
    private static final String TASK_QUEUE_SETTING = "WAYMARK_TASK_QUEUE";

    private final ClientContext context;
    private final OutcomeWaiter outcomes;
    private final ThreadContinuation continuation;
    private final ThreadSender sender;
    private final ThreadStarter starter;
    private final ThreadBrowser browser;

    private AgentClient(ClientContext context) {
        this.context = context;
        this.outcomes = new OutcomeWaiter(context);
        this.continuation = new ThreadContinuation(context, outcomes);
        this.sender = new ThreadSender(context, outcomes, continuation);
        this.starter = new ThreadStarter(context, outcomes, continuation, sender);
        this.browser = new ThreadBrowser(context);
    }

    /**
     * Connects as the environment says: {@code TEMPORAL_ADDRESS}, {@code TEMPORAL_NAMESPACE}, TLS, profiles, and
     * {@code WAYMARK_TASK_QUEUE}.
     *
     * @throws WaymarkException.ServerUnreachable when no server answers within seconds
     */
    public static AgentClient connect() {
        try {
            return of(Connection.fromEnvironment());
        } catch (KeyProblem e) {
            throw new WaymarkException.Refused(KeyProblem.TYPE, String.valueOf(e.getMessage()), Remedy.NONE);
        } catch (dev.waymark.connect.ServerUnreachable e) {
            throw ServerFailures.unreachable(String.valueOf(e.getMessage()), e);
        }
    }

    /** Connects to this address ({@code host:port}), everything else as the environment says. */
    public static AgentClient connect(String address) {
        try {
            return of(Connection.to(address));
        } catch (KeyProblem e) {
            throw new WaymarkException.Refused(KeyProblem.TYPE, String.valueOf(e.getMessage()), Remedy.NONE);
        } catch (dev.waymark.connect.ServerUnreachable e) {
            throw ServerFailures.unreachable(String.valueOf(e.getMessage()), e);
        }
    }

    private static AgentClient of(Connection connection) {
        String taskQueue = Optional.ofNullable(ProcessEnvironment.get().get(TASK_QUEUE_SETTING))
                .filter(name -> !name.isBlank())
                .orElse(WireNames.TASK_QUEUE);
        return new AgentClient(ClientContext.of(connection, taskQueue));
    }

    /** A client that waits at most this long for an outcome. The turn goes on without the caller. */
    public AgentClient withTimeout(Duration most) {
        return new AgentClient(context.withTimeout(most));
    }

    /**
     * A client that decides on calls that wait for approval while it waits for an outcome. The callback is called once for
     * each, also while other calls of the turn still run, in the thread that waits; its decision is bound to the arguments
     * that it was given. Without a callback, a result is {@link AgentResult.Interrupted} when a person has to decide.
     *
     * <pre>{@code
     * client.onApproval(request -> isHarmless(request.args()) ? Approval.approve() : Approval.deny("Too risky."))
     *         .prompt("billing", "Refund the last order");
     * }</pre>
     */
    public AgentClient onApproval(Function<ApprovalRequest, Approval> callback) {
        return new AgentClient(context.withCallbacks(others -> others.withApproval(callback)));
    }

    /** A client that answers questions while it waits. A question that the callback returns nothing for stays open. */
    public AgentClient onQuestion(Function<Question, Optional<String>> callback) {
        return new AgentClient(context.withCallbacks(others -> others.withQuestion(callback)));
    }

    /**
     * A client that saves the threads whose outcomes it waits for: after each step, behind the thread, and the last step
     * before it returns the outcome. A saver that fails is reported to the listener and does not change the outcome.
     *
     * <p>Threads that the server does not know and the saver has are restored by {@link #run}, {@link #start} and {@link
     * SavedThreads#restore}: so threads outlive a server that keeps everything in memory.
     *
     * <pre>{@code
     * try (CheckpointSaver saver = SaverTarget.parse("file:checkpoints").open()) {
     *     client.savingIn(SaveOptions.in(saver)).run(Prompt.of("assistant", "Hello again").withThread("trip"));
     * }
     * }</pre>
     */
    public AgentClient savingIn(SaveOptions where) {
        return new AgentClient(context.savingIn(where));
    }

    /** A client that tells what happens in the turn whose outcome it waits for, in the thread that waits. */
    public AgentClient watchedBy(Watcher watcher) {
        return new AgentClient(context.watchedBy(watcher));
    }

    /** One run: a thread of its own, which closes when its turn ends. */
    public AgentResult prompt(String agent, String message) {
        return run(Prompt.of(agent, message));
    }

    /** Starts what the prompt describes, or continues the open thread that it names, and waits for the outcome. */
    public AgentResult run(Prompt prompt) {
        return starter.run(prompt);
    }

    /**
     * Starts or continues without waiting for an outcome. It is durable when this returns, and no worker is needed. On a
     * server that keeps everything in memory, a client with a saver waits until a named thread's first checkpoint is
     * saved; {@link #follow} saves what comes later.
     */
    public Started start(Prompt prompt) {
        return starter.start(prompt);
    }

    /** A thread that was sent something, and the run that it went to. */
    public record Started(String thread, String runId) {}

    /**
     * Goes on, in a new thread, from where a closed one ended, however it ended. What is known of its side effects goes
     * with it: a call that may have taken effect is not simply run again. Resuming the same thread twice in the same way,
     * even at once, gives one thread.
     *
     * @return the outcome of the turn that goes on; of a thread that was complete, and is given no answer, its own
     */
    public AgentResult resume(String thread, ResumeOptions how) {
        return continuation.resume(thread, how);
    }

    /** Resumes a closed thread without waiting for the outcome. */
    public Started resumeOnly(String thread, ResumeOptions how) {
        return continuation.resumeOnly(thread, how);
    }

    /**
     * Goes on from a checkpoint of any documented format, which is recognised by its shape.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} when it is none, before anything starts
     */
    public AgentResult resume(byte[] checkpoint, ResumeOptions how) {
        return continuation.resume(checkpoint, "", how);
    }

    /** Resumes a checkpoint that was found at {@code place}, which failures name. */
    public AgentResult resume(byte[] checkpoint, String place, ResumeOptions how) {
        return continuation.resume(checkpoint, place, how);
    }

    /** Resumes a checkpoint without waiting for the outcome. Empty when the checkpoint is complete: nothing goes on. */
    public Optional<Started> resumeOnly(byte[] checkpoint, String place, ResumeOptions how) {
        return continuation.resumeOnly(checkpoint, place, how);
    }

    /**
     * Starts a new thread with what another one had come to, and says something there. It never repeats what the other
     * one has done by then, and the other one goes on without it. Forking twice in the same way gives one thread.
     */
    public AgentResult fork(String thread, ForkOptions how) {
        return continuation.fork(thread, how);
    }

    /** Forks without a message: nothing runs in the new thread until something is said or answered there. */
    public Forked forkOnly(String thread, ForkOptions how) {
        return continuation.forkOnly(thread, how);
    }

    /** A new thread, and its status. */
    public record Forked(String status, Started started) {}

    /** For programs whose threads outlive the server in a saver. */
    public SavedThreads saved() {
        return new SavedThreads(context, continuation, outcomes);
    }

    /** The saver that the server asks for, when it forgets its threads: nothing is saved there unless that is asked for. */
    public Optional<String> defaultSaver() {
        return context.connection().defaultSaver();
    }

    /** Whether the server forgets everything when it stops. */
    public boolean isInMemory() {
        return context.connection().isInMemory();
    }

    /**
     * Saves a thread as it stands, once.
     *
     * @param replacing whether it may take the place of a newer checkpoint, or of another thread's
     * @throws SaverException when it may not, when the saver fails, or when it does not answer in time
     */
    public CheckpointSaved saveOnce(String thread, SaveOptions where, boolean replacing) {
        return context.translated(() -> outcomes.saveOnce(thread, where, replacing));
    }

    /** Sends another message, and waits for the outcome of the turn that consumes it. */
    public AgentResult say(String thread, String message) {
        return sender.say(thread, message);
    }

    /** Sends a message under an id of the caller's: sent again, it is not said again, and has the same outcome. */
    public AgentResult say(String thread, String id, String message) {
        return sender.say(thread, id, message);
    }

    /** Runs the last failed or stopped turn once more. */
    public AgentResult retry(String thread) {
        return sender.retry(thread);
    }

    /** Answers the only open question, and waits until the turn ends or asks the next one. */
    public AgentResult answer(String thread, String answer) {
        return sender.answer(thread, Optional.empty(), answer);
    }

    public AgentResult answer(String thread, String callId, String answer) {
        return sender.answer(thread, Optional.of(callId), answer);
    }

    /** Lets the only call that waits for approval run, and waits until the turn ends or asks for something else. */
    public AgentResult approve(String thread) {
        return decide(thread, Approval.approve());
    }

    /** Forbids the only call that waits for approval. The model is told why. */
    public AgentResult deny(String thread, String reason) {
        return decide(thread, Approval.deny(reason));
    }

    /** Decides on a call that waits for approval. */
    public AgentResult decide(String thread, Approval approval) {
        return sender.decide(thread, approval);
    }

    /** Decides on a call whose agent takes only signed decisions. */
    public AgentResult decide(String thread, Approval approval, DecisionKey key) {
        return sender.decide(thread, approval, key);
    }

    /** Settles a call whose agent takes only signed decisions. */
    public AgentResult settle(String thread, Settlement settlement, DecisionKey key) {
        return sender.settle(thread, settlement, key);
    }

    /** Says how a call with an unknown outcome ended. */
    public AgentResult settle(String thread, Settlement settlement) {
        return sender.settle(thread, settlement);
    }

    /** Raises limits. A turn that ended on one continues. */
    public AgentResult raise(String thread, LimitRaise raise) {
        return sender.raise(thread, raise);
    }

    /** Ends the turn. What is queued stays for the next message. */
    public AgentResult stop(String thread) {
        return sender.stop(thread);
    }

    /** Sends something without waiting for an outcome, for callers that {@link #watch}. It is accepted on return. */
    public Posted post(String thread, OutboundMessage message) {
        return sender.post(thread, message);
    }

    /** The run that took a message, and the number of the fact that it became. */
    public record Posted(String runId, int fact) {}

    /** Forgets the conversation. A turn that runs is stopped. What is known of side effects is kept. */
    public Started clear(String thread) {
        return sender.clear(thread);
    }

    /** Forgets the conversation, and what is known of side effects as well: the same calls take effect again. */
    public Started clearAll(String thread) {
        return sender.clearAll(thread);
    }

    /** Ends the thread once it is idle. Returns whether it has ended already. */
    public boolean close(String thread) {
        return sender.close(thread);
    }

    /** Ends the thread now. Work in flight is cancelled. */
    public AgentResult cancel(String thread) {
        return sender.cancel(thread);
    }

    /** The outcome of the latest turn. Waits while one runs, but not for people. Nothing is executed again. */
    public AgentResult result(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> outcomes.result(RequestLimits.thread(thread), deadline));
    }

    /** The thread of this id; else the only one whose id begins with it, if that is told apart; else the id as it is. */
    public String find(String idOrBeginning) {
        return browser.find(idOrBeginning);
    }

    /** What waits for a person in this thread. */
    public List<PendingItem> pending(String thread) {
        return browser.pending(thread);
    }

    /** What waits for a person in any open thread, the longest waiting first. */
    public List<PendingItem> pending(Progress progress) {
        return browser.pending(progress);
    }

    /** All threads that the server holds, the one that changed last first. */
    public List<ThreadSummary> threads(Progress progress) {
        return browser.threads(progress);
    }

    public StatusReport status(String thread) {
        return StatusReport.of(timeline(thread).now());
    }

    /** A checkpoint of the present. */
    public Json checkpoint(String thread, CheckpointFormat format) {
        return format.view(timeline(thread));
    }

    /** A checkpoint of a version ({@code 3}), an event of the newest run ({@code e42}) or of any run ({@code RUN/e42}). */
    public Json checkpoint(String thread, CheckpointFormat format, String place) {
        return format.view(timeline(thread, place));
    }

    /** Everything that is still known of a thread. */
    public Timeline timeline(String thread) {
        return browser.timeline(thread);
    }

    /** A thread as it stood at a version ({@code 3}), or at an event ({@code e42}, {@code RUN/e42}). */
    public Timeline timeline(String thread, String place) {
        return context.translated(() -> context.read(RequestLimits.thread(thread), place));
    }

    /** Tells of every moment that is still held, and of every new one, until the thread closes or the watcher has enough. */
    public void watch(String thread, Watcher watcher) {
        browser.watch(thread, watcher);
    }

    /** Saves a thread as it goes on, behind it, until it closes or the follower is stopped. Begins with the newest version. */
    public SaveFollower follow(String thread, SaveOptions where) {
        return browser.follow(thread, where);
    }

    /** Saves all threads of the server as they go on, those that begin later included. Closed ones are saved once. */
    public SaveFollower followAll(SaveOptions where) {
        return browser.followAll(where);
    }

    /** Compares what the thread's history projects to with what its workflow recorded, and with what it says now. */
    public Verification verify(String thread) {
        return browser.verify(thread);
    }

    @Override
    public void close() {
        context.connection().close();
    }
}
