package dev.waymark.client;

import dev.waymark.checkpoint.CheckpointFormat;
import dev.waymark.client.connection.ServerFailures;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.RequestLimits;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.PendingPage;
import dev.waymark.client.list.PendingPageRequest;
import dev.waymark.client.list.Progress;
import dev.waymark.client.list.ThreadPage;
import dev.waymark.client.list.ThreadPageRequest;
import dev.waymark.client.list.ThreadSummary;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.ApprovalRequest;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.LimitRaise;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.Question;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.request.Settlement;
import dev.waymark.client.save.CheckpointSaved;
import dev.waymark.client.save.SaveFollower;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.watch.Watcher;
import dev.waymark.codec.KeyProblem;
import dev.waymark.connect.Connection;
import dev.waymark.connect.ProcessEnvironment;
import dev.waymark.contract.ThreadOwner;
import dev.waymark.contract.WireNames;
import dev.waymark.contract.thread.PendingItem;
import dev.waymark.contract.thread.StatusReport;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Timeline;
import dev.waymark.saver.SaverException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Starts, answers and inspects threads from any process that reaches the Temporal server. A thread is identified by its
 * id; a caller needs to store nothing else between calls or processes.
 *
 * <p>Methods that cause work wait for the outcome of the turn, which they read from history. A turn continues if the
 * connection is lost or the caller ends; {@link #withTimeout} limits the wait. Sending a message twice with the same id
 * is harmless. Reading needs no worker. Thread-safe. Failures that a caller can handle are thrown as {@link
 * WaymarkException}.
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
     * Connects with the settings of the environment: {@code TEMPORAL_ADDRESS}, {@code TEMPORAL_NAMESPACE}, TLS,
     * profiles, and {@code WAYMARK_TASK_QUEUE}.
     *
     * @throws WaymarkException.ServerUnreachable if no server answers within seconds
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

    /** Connects to this address ({@code host:port}), with the other settings of the environment. */
    public static AgentClient connect(String address) {
        try {
            return of(Connection.to(address));
        } catch (KeyProblem e) {
            throw new WaymarkException.Refused(KeyProblem.TYPE, String.valueOf(e.getMessage()), Remedy.NONE);
        } catch (dev.waymark.connect.ServerUnreachable e) {
            throw ServerFailures.unreachable(String.valueOf(e.getMessage()), e);
        }
    }

    /** A client on this connection, whose threads run on this task queue. Closing it closes the connection. */
    public static AgentClient on(Connection connection, String taskQueue) {
        return new AgentClient(ClientContext.of(connection, taskQueue));
    }

    private static AgentClient of(Connection connection) {
        String taskQueue = Optional.ofNullable(ProcessEnvironment.get().get(TASK_QUEUE_SETTING))
                .filter(name -> !name.isBlank())
                .orElse(WireNames.TASK_QUEUE);
        return on(connection, taskQueue);
    }

    /** Returns a client that waits at most this long for an outcome. The turn continues after a timeout. */
    public AgentClient withTimeout(Duration most) {
        return new AgentClient(context.withTimeout(most));
    }

    /**
     * Returns a client that decides about calls that need approval while it waits for an outcome. The waiting thread
     * invokes the callback once for each call, even while other calls of the turn are running. The decision applies
     * only to the arguments that the callback was given. Without a callback, the result is {@link
     * AgentResult.Interrupted} when a person has to decide.
     *
     * <pre>{@code
     * client.onApproval(request -> isHarmless(request.args()) ? Approval.approve() : Approval.deny("Too risky."))
     *         .prompt("billing", "Refund the last order");
     * }</pre>
     */
    public AgentClient onApproval(Function<ApprovalRequest, Approval> callback) {
        return new AgentClient(context.withCallbacks(others -> others.withApproval(callback)));
    }

    /** Returns a client that answers questions while it waits. A question stays open if the callback returns empty. */
    public AgentClient onQuestion(Function<Question, Optional<String>> callback) {
        return new AgentClient(context.withCallbacks(others -> others.withQuestion(callback)));
    }

    /**
     * Returns a client that saves the threads whose outcomes it waits for: asynchronously after each step, and the last
     * step before it returns the outcome. Failures of the saver are reported to the listener and do not change the
     * outcome.
     *
     * <p>{@link #run}, {@link #start} and {@link SavedThreads#restore} restore threads that only the saver has. So
     * threads survive a server that keeps everything in memory.
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

    /** Returns a client that reports the events of the turn it waits for to the watcher, in the waiting thread. */
    public AgentClient watchedBy(Watcher watcher) {
        return new AgentClient(context.watchedBy(watcher));
    }

    /**
     * Returns a client whose new threads belong to the trace of the span that this returns at their start, a {@code
     * traceparent} of W3C Trace Context. Default: the environment variable {@code TRACEPARENT}. That of a {@link Prompt}
     * goes before it.
     */
    public AgentClient tracedBy(Supplier<Optional<String>> currentSpan) {
        return new AgentClient(context.tracedBy(currentSpan));
    }

    /** Runs one turn in a new thread, which closes when the turn ends. */
    public AgentResult prompt(String agent, String message) {
        return run(Prompt.of(agent, message));
    }

    /** Starts a thread from the prompt, or continues the open thread that it names, and waits for the outcome. */
    public AgentResult run(Prompt prompt) {
        return starter.run(prompt);
    }

    /**
     * Starts or continues a thread without waiting for an outcome. Returns as soon as the server has stored the
     * request; needs no worker. On a server that keeps everything in memory, a client with a saver waits until the
     * first checkpoint of a named thread is saved; {@link #follow} saves later ones.
     */
    public Started start(Prompt prompt) {
        return starter.start(prompt);
    }

    /**
     * Starts the thread that the prompt names, unless the same prompt has started it before. Durable on return; needs no
     * worker.
     *
     * @throws WaymarkException.Refused with type {@code KeyReused} when another prompt has started a thread of this id
     */
    public Begun begin(Prompt prompt, NewThreadOptions how) {
        return starter.begin(prompt, how);
    }

    /**
     * A thread that was started.
     *
     * @param again whether an earlier request had started it
     */
    public record Begun(Started started, boolean again) {}

    /** A thread and the run that received the message. */
    public record Started(String thread, String runId) {}

    /**
     * Continues a closed thread in a new one, however it ended. Its record of side effects is carried over: a call that
     * may have taken effect is not simply repeated. Resuming the same thread twice with the same options, even
     * concurrently, gives one thread.
     *
     * @return the outcome of the continued turn; if the thread was complete and no answer is given, its own outcome
     */
    public AgentResult resume(String thread, ResumeOptions how) {
        return continuation.resume(thread, how);
    }

    /** Resumes a closed thread without waiting for the outcome. */
    public Started resumeOnly(String thread, ResumeOptions how) {
        return continuation.resumeOnly(thread, how);
    }

    /**
     * Continues from a checkpoint of any documented format; the format is detected.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} if it is not a checkpoint, before
     * anything starts
     */
    public AgentResult resume(byte[] checkpoint, ResumeOptions how) {
        return continuation.resume(checkpoint, "", how);
    }

    /** Resumes a checkpoint from {@code place}, which is mentioned in failures. */
    public AgentResult resume(byte[] checkpoint, String place, ResumeOptions how) {
        return continuation.resume(checkpoint, place, how);
    }

    /**
     * Resumes a checkpoint without waiting for the outcome. Empty if the checkpoint is complete, so that nothing runs.
     */
    public Optional<Started> resumeOnly(byte[] checkpoint, String place, ResumeOptions how) {
        return continuation.resumeOnly(checkpoint, place, how);
    }

    /**
     * Starts a new thread with the conversation of another one, and sends a message to it. Calls that the other thread
     * has made are not repeated, and the other thread continues independently. Forking twice with the same options
     * gives one thread.
     */
    public AgentResult fork(String thread, ForkOptions how) {
        return continuation.fork(thread, how);
    }

    /** Forks without a message. Nothing runs in the new thread until it gets a message or an answer. */
    public Forked forkOnly(String thread, ForkOptions how) {
        return continuation.forkOnly(thread, how);
    }

    /** A new thread and its status. */
    public record Forked(String status, Started started) {}

    /** Saves and restores threads of programs whose threads must survive the server. */
    public SavedThreads saved() {
        return new SavedThreads(context, continuation, outcomes);
    }

    /** The saver that a server in memory recommends for its threads. It is used only if the caller asks for it. */
    public Optional<String> defaultSaver() {
        return context.connection().defaultSaver();
    }

    /** Whether the server loses everything when it stops. */
    public boolean isInMemory() {
        return context.connection().isInMemory();
    }

    /**
     * Saves the current state of a thread once.
     *
     * @param replacing whether it may replace a newer checkpoint, or one of another thread
     * @throws SaverException if it may not replace the checkpoint, or the saver fails or does not answer in time
     */
    public CheckpointSaved saveOnce(String thread, SaveOptions where, boolean replacing) {
        return context.translated(() -> outcomes.saveOnce(thread, where, replacing));
    }

    /** Sends another message and waits for the outcome of the turn that consumes it. */
    public AgentResult say(String thread, String message) {
        return sender.say(thread, message);
    }

    /**
     * Sends a message with an id chosen by the caller. Repeating it with the same id has no effect and returns the same
     * outcome.
     */
    public AgentResult say(String thread, String id, String message) {
        return sender.say(thread, id, message);
    }

    /** Repeats the last turn, which failed or was stopped. */
    public AgentResult retry(String thread) {
        return sender.retry(thread);
    }

    /** Answers the only open question, and waits until the turn ends or asks another one. */
    public AgentResult answer(String thread, String answer) {
        return sender.answer(thread, Optional.empty(), answer);
    }

    /** Answers the open question of one call, and waits for the outcome of the turn. */
    public AgentResult answer(String thread, String callId, String answer) {
        return sender.answer(thread, Optional.of(callId), answer);
    }

    /** Approves the only call that needs approval, and waits until the turn ends or needs another decision. */
    public AgentResult approve(String thread) {
        return decide(thread, Approval.approve());
    }

    /** Denies the only call that needs approval. The model is told the reason. */
    public AgentResult deny(String thread, String reason) {
        return decide(thread, Approval.deny(reason));
    }

    /** Decides about a call that needs approval. */
    public AgentResult decide(String thread, Approval approval) {
        return sender.decide(thread, approval);
    }

    /** Decides about a call of an agent that accepts only signed decisions. */
    public AgentResult decide(String thread, Approval approval, DecisionKey key) {
        return sender.decide(thread, approval, key);
    }

    /** Settles a call of an agent that accepts only signed decisions. */
    public AgentResult settle(String thread, Settlement settlement, DecisionKey key) {
        return sender.settle(thread, settlement, key);
    }

    /** Settles a call with an unknown outcome. */
    public AgentResult settle(String thread, Settlement settlement) {
        return sender.settle(thread, settlement);
    }

    /** Raises limits. A turn that ended at a limit continues. */
    public AgentResult raise(String thread, LimitRaise raise) {
        return sender.raise(thread, raise);
    }

    /** Ends the turn. Queued messages stay queued for the next one. */
    public AgentResult stop(String thread) {
        return sender.stop(thread);
    }

    /**
     * Sends a message without waiting for an outcome, for callers that {@link #watch}. The thread has accepted it when
     * this returns.
     *
     * @throws WaymarkException.Refused with type {@code KeyReused} when another message was sent with the same id
     */
    public Posted post(String thread, OutboundMessage message) {
        return sender.post(thread, message);
    }

    /**
     * Sends several messages in this order, such as the answers to all questions of a turn. All are checked against the
     * thread's history before the first one is sent, so that none is sent if one is refused. If somebody else decides in
     * the meantime, the messages before the refused one have been sent. Sending them again is harmless.
     */
    public List<Posted> postAll(String thread, List<OutboundMessage> messages) {
        return sender.postAll(thread, messages);
    }

    /** The run that accepted a message, and the number of the resulting fact. */
    public record Posted(String runId, int fact) {}

    /** Deletes the conversation. A running turn is stopped. The record of side effects is kept. */
    public Started clear(String thread) {
        return sender.clear(thread);
    }

    /** Deletes the conversation and the record of side effects, so that the same calls take effect again. */
    public Started clearAll(String thread) {
        return sender.clearAll(thread);
    }

    /** Closes the thread once it is idle. Returns whether it is closed already. */
    public boolean close(String thread) {
        return sender.close(thread);
    }

    /** Cancels the thread and its running work. */
    public AgentResult cancel(String thread) {
        return sender.cancel(thread);
    }

    /** Asks for the thread to end now, and does not wait until it has. Returns the run that was asked. */
    public String requestCancel(String thread) {
        return sender.requestCancel(thread);
    }

    /** The outcome of the latest turn. Waits while it runs, but not for people. Does not execute anything again. */
    public AgentResult result(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> outcomes.result(RequestLimits.thread(thread), deadline));
    }

    /**
     * Resolves a thread id or its prefix. Returns the id itself if there is no such thread or the prefix is ambiguous.
     */
    public String find(String idOrBeginning) {
        return browser.find(idOrBeginning);
    }

    /** The requests of this thread that wait for a person. */
    public List<PendingItem> pending(String thread) {
        return browser.pending(thread);
    }

    /** The requests of all open threads that wait for a person, oldest first. */
    public List<PendingItem> pending(Progress progress) {
        return browser.pending(progress);
    }

    /**
     * A page of the requests that wait for a person: those of the threads that began last first. Where threads have no
     * search attributes, see {@link #setUp}, all open threads are read, and there is one page.
     */
    public PendingPage pending(PendingPageRequest request, Progress progress) {
        return browser.pending(request, progress);
    }

    /**
     * Creates the search attributes of threads in the server's namespace, so that lists of threads need not read every
     * history. Threads that start later have them.
     *
     * @return the names of those that were missing
     * @throws WaymarkException.Refused if the server has no search attributes, lets this client create none, or has
     * others of these names
     */
    public List<String> setUp() {
        return context.translated(() -> ServerFailures.settingUp(context.connection()));
    }

    /** Whether new threads have search attributes, so that lists are read by pages. */
    public boolean isIndexed() {
        return context.translated(() -> context.connection().isIndexed());
    }

    /** All threads of the server, most recently changed first. */
    public List<ThreadSummary> threads(Progress progress) {
        return browser.threads(progress);
    }

    /**
     * A page of the server's threads, the one that began last first.
     *
     * @param visible which of them the caller may see, by whose they are
     */
    public ThreadPage threads(ThreadPageRequest request, Predicate<Optional<ThreadOwner>> visible) {
        return browser.page(request, visible);
    }

    /** Whose thread it is, if it is anybody's. A subagent's is whose the thread above it is. */
    public Optional<ThreadOwner> owner(String thread) {
        return context.translated(() -> continuation.ownerOf(RequestLimits.thread(thread)));
    }

    /** Whether the server has a thread of this id, open or closed. */
    public boolean exists(String thread) {
        return context.translated(
                () -> context.requests().find(RequestLimits.thread(thread)).isPresent());
    }

    /** The status of a thread, from its history. */
    public StatusReport status(String thread) {
        return StatusReport.of(timeline(thread).now());
    }

    /** A checkpoint of the current state. */
    public Json checkpoint(String thread, CheckpointFormat format) {
        return format.view(timeline(thread));
    }

    /**
     * A checkpoint at a version ({@code 3}), an event of the newest run ({@code e42}) or of any run ({@code RUN/e42}).
     */
    public Json checkpoint(String thread, CheckpointFormat format, String place) {
        return format.view(timeline(thread, place));
    }

    /** The history of a thread, as far as the server still has it. */
    public Timeline timeline(String thread) {
        return browser.timeline(thread);
    }

    /** A thread at a version ({@code 3}) or an event ({@code e42}, {@code RUN/e42}). */
    public Timeline timeline(String thread, String place) {
        return context.translated(() -> context.read(RequestLimits.thread(thread), place));
    }

    /** Reports all moments in history and all new ones, until the thread closes or the watcher ends it. */
    public void watch(String thread, Watcher watcher) {
        browser.watch(thread, watcher);
    }

    /**
     * Opens a watch that occupies no Java thread while nothing happens.
     *
     * @param after the id of the last event that was received, from this watch or another of the same thread
     * @param executor runs the reading, which makes short requests of the server
     */
    public ThreadWatch openWatch(String thread, Optional<String> after, Executor executor) {
        return browser.openWatch(thread, after, executor);
    }

    /**
     * Saves a thread asynchronously as it progresses, until it closes or the follower is stopped. Starts with the
     * newest version.
     */
    public SaveFollower follow(String thread, SaveOptions where) {
        return browser.follow(thread, where);
    }

    /**
     * Saves all threads of the server as they progress, including those that start later. Closed threads are saved
     * once.
     */
    public SaveFollower followAll(SaveOptions where) {
        return browser.followAll(where);
    }

    /**
     * Compares the projection of the thread's history with the states that its workflow recorded, and with the
     * workflow's current state.
     */
    public Verification verify(String thread) {
        return browser.verify(thread);
    }

    /**
     * Turns threads into OpenTelemetry spans.
     *
     * @param content whether messages, arguments and results are in the spans
     */
    public ThreadTracer tracer(boolean content) {
        return new ThreadTracer(context, content);
    }

    @Override
    public void close() {
        context.connection().close();
    }
}
