package dev.waymark.client;

import dev.waymark.checkpoint.CheckpointViews;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.ReportedAgents;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.ApprovalRequest;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.NewThreadOptions;
import dev.waymark.client.request.OutboundMessage;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.Question;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.fact.PersonFact.BudgetRaised;
import dev.waymark.conversation.fact.PersonFact.OutcomeSettled;
import dev.waymark.conversation.value.Json;
import dev.waymark.thread.StatusReport;
import dev.waymark.timeline.CheckpointFormat;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Starts, answers and inspects threads from any process that reaches the Temporal server. A thread is identified by its
 * id; a caller needs to store nothing else between calls or processes.
 *
 * <p>Methods that start or continue a turn send one request and return a {@link TurnHandle}. They do not wait for the
 * outcome: {@link TurnHandle#await} does. When they return, the server has stored the request or the thread has accepted
 * it, so a turn continues if the connection is lost or the caller ends. Sending a message twice with the same id is
 * harmless. Reading needs no worker. Thread-safe. Failures that a caller can handle are thrown as {@link
 * WaymarkException}.
 *
 * <p>{@link #lists} lists threads, {@link #inspector} examines one thread, and {@link #saved} saves checkpoints outside
 * of the server.
 *
 * <pre>{@code
 * try (AgentClient client = AgentClient.connect()) {
 *     AgentResult result = client.prompt("assistant", "Hello").await();
 *     System.out.println(AgentResult.assertComplete(result).text());
 * }
 * }</pre>
 */
public final class AgentClient implements AutoCloseable {
    private final ClientContext context;
    private final OutcomeSaver saves;
    private final OutcomeWaiter outcomes;
    private final NewThreads threads;
    private final ThreadResumer resumer;
    private final ThreadSender sender;
    private final ThreadStarter starter;
    private final ThreadInspector inspector;

    private AgentClient(ClientContext context) {
        this.context = context;
        this.saves = new OutcomeSaver(context);
        this.outcomes = new OutcomeWaiter(context, saves);
        this.threads = new NewThreads(context);
        this.resumer = new ThreadResumer(context, threads, outcomes, saves);
        this.sender = new ThreadSender(context, outcomes, saves, threads, resumer);
        this.starter = new ThreadStarter(context, outcomes, saves, threads, resumer, sender);
        this.inspector = new ThreadInspector(context, resumer);
    }

    /**
     * Connects with the settings from the environment: {@code TEMPORAL_ADDRESS}, {@code TEMPORAL_NAMESPACE}, TLS,
     * profiles, and {@code WAYMARK_TASK_QUEUE}.
     *
     * @throws WaymarkException.ServerUnreachable if no server answers within seconds
     */
    public static AgentClient connect() {
        return new AgentClient(ClientContext.connected(Connection::fromEnvironment));
    }

    /** Connects to this address ({@code host:port}), with all other settings from the environment. */
    public static AgentClient connect(String address) {
        return new AgentClient(ClientContext.connected(() -> Connection.to(address)));
    }

    /**
     * Returns a client that uses this connection and starts threads on this task queue. Closing the client closes the
     * connection.
     */
    public static AgentClient on(Connection connection, String taskQueue) {
        return new AgentClient(ClientContext.of(connection, taskQueue));
    }

    /**
     * Returns a client that waits at most this long for an outcome. The time begins with the request. The turn continues
     * after a timeout.
     */
    public AgentClient withTimeout(Duration most) {
        return new AgentClient(context.withTimeout(most));
    }

    /**
     * Returns a client that decides about calls that need approval while it waits for an outcome. The Java thread that
     * waits invokes the callback once for each call, even while other calls of the turn are running. The decision
     * applies only to the arguments that the callback was given. If the callback returns empty, or if there is none,
     * the call waits for somebody else. When only people can continue the turn, the result is {@link
     * AgentResult.Interrupted}.
     *
     * <pre>{@code
     * client.onApproval(request -> isHarmless(request.args()) ? Optional.of(Approval.approve()) : Optional.empty())
     *         .prompt("billing", "Refund the last order")
     *         .await();
     * }</pre>
     */
    public AgentClient onApproval(Function<ApprovalRequest, Optional<ApprovalDecided>> callback) {
        return new AgentClient(context.withCallbacks(others -> others.withApproval(callback)));
    }

    /** Returns a client that answers questions while it waits. A question stays open if the callback returns empty. */
    public AgentClient onQuestion(Function<Question, Optional<String>> callback) {
        return new AgentClient(context.withCallbacks(others -> others.withQuestion(callback)));
    }

    /**
     * Returns a client that signs approvals, denials and settlements with this key, for agents that accept only signed
     * decisions. Also signs the decisions of {@link #onApproval}, but not the messages of {@link #send}.
     */
    public AgentClient signingWith(DecisionKey key) {
        return new AgentClient(context.signingWith(key));
    }

    /**
     * Returns a client that saves the threads whose outcomes it waits for. It saves asynchronously, by default after
     * each step, and waits for the last save before it returns an outcome. Failures of the saver do not change the
     * outcome: they are reported to the listener or, if there is none, logged, and the result says {@link
     * AgentResult#unsaved}. To save a thread without waiting for it, use {@link #saved}.
     *
     * <p>Methods that continue a thread, such as {@link #run}, {@link #start}, {@link #say} and {@link #answer},
     * restore the thread if only the saver has it. Threads can therefore survive a restart of a server that keeps
     * everything in memory.
     *
     * <pre>{@code
     * try (CheckpointSaver saver = SaverTarget.parse("file:checkpoints").open()) {
     *     client.savingIn(SaveOptions.in(saver))
     *             .run(Prompt.of("assistant", "Hello again").withThread("trip"))
     *             .await();
     * }
     * }</pre>
     */
    public AgentClient savingIn(SaveOptions where) {
        return new AgentClient(context.savingIn(where));
    }

    /**
     * Returns a client that reports events while it waits for a turn: what happens, the text of replies, requests to
     * people, each version that the thread reaches, and what {@link #onNotice} reports. The Java thread that waits
     * calls the listener; events of the saver may come from another Java thread at the same time. A client has one
     * listener.
     *
     * <pre>{@code
     * client.watchedBy(event -> {
     *     if (event instanceof ThreadEvent.Said said) {
     *         System.out.print(said.words().text());
     *     }
     * });
     * }</pre>
     */
    public AgentClient watchedBy(Consumer<ThreadEvent> listener) {
        return new AgentClient(context.listening(listener, true));
    }

    /**
     * Like {@link #watchedBy}, but does not report the steps of turns, and asks the server less often: reports only that
     * a wait begins or ends, that no worker takes the work, and what the saver saves, restores, and fails to save.
     */
    public AgentClient onNotice(Consumer<ThreadEvent> listener) {
        return new AgentClient(context.listening(listener, false));
    }

    /**
     * Returns a client whose new threads join a trace: the supplier is called when a thread starts, and returns the
     * current span as a {@code traceparent} of W3C Trace Context. Default: the environment variable {@code
     * TRACEPARENT}. A {@link Prompt} with a {@code traceparent} of its own takes precedence.
     */
    public AgentClient tracedBy(Supplier<Optional<String>> currentSpan) {
        return new AgentClient(context.tracedBy(currentSpan));
    }

    /** Runs one turn in a new thread, which closes when the turn ends. */
    public TurnHandle prompt(String agent, String message) {
        return run(Prompt.of(agent, message));
    }

    /**
     * Starts a thread from the prompt, or continues the open thread that it names. A new thread needs no worker to be
     * stored; an open one needs a worker to accept the message.
     */
    public TurnHandle run(Prompt prompt) {
        return starter.run(prompt);
    }

    /**
     * Like {@link #run}, but returns as soon as the server has stored the request, also for an open thread. Needs no
     * worker. If an open thread refuses the message, {@link TurnHandle#await} throws the refusal. On a server that keeps
     * everything in memory, a client with a saver waits until the first checkpoint of a named thread is saved; {@link
     * SavedThreads#follow} saves later ones.
     */
    public TurnHandle start(Prompt prompt) {
        return starter.start(prompt);
    }

    /**
     * Starts the thread that the prompt names, unless the same prompt has started it before. Never continues another
     * thread. Needs no worker.
     *
     * @throws WaymarkException.Refused with type {@code KeyReused} if another prompt has started a thread with this id
     */
    public TurnHandle startNew(Prompt prompt, NewThreadOptions how) {
        return starter.startNew(prompt, how);
    }

    /**
     * Sends a request, and returns everything that happens while its outcome is awaited as one stream: text as the
     * model writes it, requests to people, each saved checkpoint, and the outcome as the last event. Callbacks and the
     * saver of this client are used as in {@link TurnHandle#await}.
     *
     * <p>The request is sent when the stream is consumed. Close the stream: a stream that is not consumed to its end
     * occupies a Java thread until then. Closing it early ends the wait and the saving; the turn continues.
     *
     * <pre>{@code
     * try (Stream<ThreadEvent> events = client.savingIn(SaveOptions.in(saver)).stream(saving -> saving.run(prompt))) {
     *     events.forEach(event -> {
     *         if (event instanceof ThreadEvent.Said said) {
     *             System.out.print(said.words().text());
     *         } else if (event instanceof ThreadEvent.Saved saved) {
     *             System.out.println("Checkpoint saved at step " + saved.step());
     *         }
     *     });
     * }
     * }</pre>
     *
     * @param request receives the client to send it with
     * @throws WaymarkException from the stream, if the request or the wait fails
     */
    public Stream<ThreadEvent> stream(Function<AgentClient, TurnHandle> request) {
        return TurnStream.of(listener -> request.apply(watchedBy(listener)).await(), context.listener());
    }

    /**
     * Like {@link #stream}, for reactive programs: sends the request for each subscriber, and hands it the events that
     * it has requested. No Java thread waits: events are delivered in the threads that {@link TurnHandle#future} uses,
     * one at a time. If a subscriber is slow, its wait pauses; the turn continues. Cancelling the subscription ends the
     * wait and the saving, but not the turn.
     *
     * <pre>{@code
     * Flux<ThreadEvent> events = JdkFlowAdapter.flowPublisherToFlux(client.publisher(saving -> saving.run(prompt)));
     * }</pre>
     *
     * @param request receives the client to send it with
     */
    public Flow.Publisher<ThreadEvent> publisher(Function<AgentClient, TurnHandle> request) {
        return new TurnPublisher(listener -> request.apply(watchedBy(listener)), context.listener());
    }

    /**
     * Continues a closed thread, however it ended, in a new thread. The record of side effects is carried over: an open
     * call that may have taken effect has an unknown outcome and is not simply repeated. Resuming the same thread twice
     * with the same options, even concurrently, gives one thread. Needs no worker.
     *
     * <p>If the turn of the closed thread was complete, and the options contain neither an answer nor a thread id,
     * nothing starts, and the outcome is the one of that turn.
     */
    public TurnHandle resume(String thread, ResumeOptions how) {
        return resumer.resume(thread, how);
    }

    /**
     * Continues from a checkpoint of any documented format, which is detected, like {@link #resume(String,
     * ResumeOptions)}.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} if the bytes are not a checkpoint; then
     * nothing has started
     */
    public TurnHandle resume(byte[] checkpoint, ResumeOptions how) {
        return resumer.resume(checkpoint, how);
    }

    /**
     * Starts a new thread with the conversation of another one. If the options contain a message, the new thread begins
     * with it; otherwise, nothing runs in the new thread until it gets a message or an answer. Calls that the other
     * thread has made are not repeated, and the other thread continues independently. Forking twice with the same
     * options gives one thread. Needs no worker.
     */
    public TurnHandle fork(String thread, ForkOptions how) {
        return resumer.fork(thread, how);
    }

    /** Methods that list the threads of the server, and the requests in them that wait for a person. */
    public ThreadLists lists() {
        return new ThreadLists(context);
    }

    /** Methods for schedules, which start threads at certain times. */
    public Schedules schedules() {
        return new Schedules(context);
    }

    /**
     * Whether the server may give threads of different owners fair shares of the workers. False for servers before 1.29
     * and for the in-memory server; later servers do not report whether it is enabled.
     */
    public boolean mayShareFairly() {
        return context.connection().mayShareFairly();
    }

    /** The namespace of the Temporal server that this client uses. */
    public String namespace() {
        return context.connection().namespace();
    }

    /** The address of the Temporal server, as {@code host:port}. Empty for a server in this process. */
    public Optional<String> address() {
        return Optional.ofNullable(context.connection().address());
    }

    /** The agents that the workers of this client's task queue report. Keep the object: it remembers their answer. */
    public ReportedAgents reportedAgents() {
        return new ReportedAgents(context.connection(), context.requests().taskQueue());
    }

    /** Reads how much waits for people and for workers. Keep the object: it remembers since when threads have waited. */
    public LoadReader load() {
        return new LoadReader(context);
    }

    /** Methods that examine one thread: watching, verification and spans. */
    public ThreadInspector inspector() {
        return inspector;
    }

    /** Methods that save and restore threads, for programs whose threads must survive the loss of the server. */
    public SavedThreads saved() {
        return new SavedThreads(context, threads, resumer, saves);
    }

    /**
     * Sends a message, a decision or another request of a person. The thread has accepted it when this method returns.
     * The outcome is that of the turn that consumes the message or, for other requests, of the turn in which they
     * arrive. The other methods that send something to an open thread are short forms of this one.
     *
     * @throws WaymarkException.NoWorker if no worker takes the message in time
     * @throws WaymarkException.Refused if the thread refuses the message; with type {@code KeyReused} if another message
     * was sent with the same id
     */
    public TurnHandle send(String thread, OutboundMessage message) {
        return sender.send(thread, message);
    }

    /**
     * Sends several messages in this order, such as the answers to all questions of a turn. All are checked against the
     * thread's history before the first one is sent, so that none is sent if one is refused. If the thread changes in
     * the meantime and refuses a message, the messages before that one have been sent. Sending them again is harmless.
     *
     * @return a handle for each message
     */
    public List<TurnHandle> sendAll(String thread, List<OutboundMessage> messages) {
        return sender.sendAll(thread, messages);
    }

    /** Sends another message. The outcome is that of the turn that consumes it. */
    public TurnHandle say(String thread, String message) {
        return send(thread, OutboundMessage.message(message));
    }

    /** Answers the only open question. */
    public TurnHandle answer(String thread, String answer) {
        return send(thread, OutboundMessage.answer(answer));
    }

    /** Approves the only call that needs approval. */
    public TurnHandle approve(String thread) {
        return decide(thread, Approval.approve());
    }

    /** Denies the only call that needs approval. The model is told the reason. */
    public TurnHandle deny(String thread, String reason) {
        return decide(thread, Approval.deny(reason));
    }

    /** Decides about a call that needs approval. */
    public TurnHandle decide(String thread, ApprovalDecided approval) {
        return sender.decide(thread, approval);
    }

    /** Settles a call with an unknown outcome. */
    public TurnHandle settle(String thread, OutcomeSettled settlement) {
        return sender.settle(thread, settlement);
    }

    /** Raises limits. A turn that ended at a limit continues. */
    public TurnHandle raise(String thread, BudgetRaised raise) {
        return send(thread, OutboundMessage.of(raise));
    }

    /** Runs the last turn again, which must have failed or been stopped. */
    public TurnHandle retry(String thread) {
        return send(thread, OutboundMessage.retry());
    }

    /** Ends the running turn. Queued messages stay queued for the next turn. */
    public TurnHandle stop(String thread) {
        return send(thread, OutboundMessage.stop());
    }

    /**
     * Deletes the conversation, and saves the thread without it if this client has a saver. A running turn is stopped.
     * The record of side effects is kept.
     */
    public TurnHandle clear(String thread) {
        return sender.clear(thread, OutboundMessage.clear());
    }

    /** Like {@link #clear}, but also deletes the record of side effects, so that a repeated call takes effect again. */
    public TurnHandle clearAll(String thread) {
        return sender.clear(thread, OutboundMessage.clearAll());
    }

    /** Cancels the thread. The outcome is available when its running work has ended and the thread is closed. */
    public TurnHandle cancel(String thread) {
        return sender.cancel(thread);
    }

    /**
     * The latest turn of a thread, for a caller that has no handle of it. Sends nothing, and never runs the turn again.
     *
     * @throws WaymarkException.NotFound if there is no such thread
     */
    public TurnHandle turn(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> outcomes.turn(RequestLimits.thread(thread), deadline));
    }

    /**
     * Closes the thread as soon as it is idle. Returns whether it has closed: false if a turn is running, or if the
     * thread has not closed within ten seconds.
     */
    public boolean close(String thread) {
        return sender.close(thread);
    }

    /**
     * Destroys the key of a closed thread, so that nobody can read the thread or its subagents again, not even from
     * copies of their histories. Other threads that began with the conversation of this thread have their own keys.
     * Forgetting a thread again changes nothing.
     *
     * @param terminate whether to terminate the thread and its subagents if they are open
     * @throws WaymarkException.Refused if the thread is open and {@code terminate} is false, or has no key of its own
     */
    public ForgottenThread forget(String thread, boolean terminate) {
        return context.translated(() -> new ThreadForgetter(context).forget(RequestLimits.thread(thread), terminate));
    }

    /**
     * A thread whose key was destroyed.
     *
     * @param at when the key was destroyed
     * @param again whether the key had been destroyed before this request
     * @param copies the threads that began with this thread's conversation and can still be read
     */
    public record ForgottenThread(String thread, Instant at, boolean again, List<String> copies) {}

    /** The requests of this thread that wait for a person. */
    public List<PendingItem> pending(String thread) {
        return inspector.pending(thread);
    }

    /** The status of a thread, from its history. */
    public StatusReport status(String thread) {
        return ThreadStatus.of(timeline(thread).now());
    }

    /** A checkpoint of the current state. */
    public Json checkpoint(String thread, CheckpointFormat format) {
        return checkpoint(timeline(thread), format);
    }

    /** A checkpoint of the state at the end of a timeline, which may be an earlier one. */
    public static Json checkpoint(Timeline timeline, CheckpointFormat format) {
        return CheckpointViews.of(format, timeline);
    }

    /** The history of a thread, as far as the server still has it. */
    public Timeline timeline(String thread) {
        return inspector.timeline(thread);
    }

    /** The history of a thread up to a version ({@code 3}) or an event ({@code e42}, {@code RUN/e42}). */
    public Timeline timeline(String thread, String place) {
        return context.translated(() -> context.read(RequestLimits.thread(thread), place));
    }

    /**
     * Reports all events of a thread in history and all new ones, until the thread closes. Blocks the calling Java thread,
     * which calls the listener.
     *
     * <pre>{@code
     * client.watch("trip", event -> {
     *     if (event instanceof ThreadEvent.Saved saved) {
     *         System.out.println("Checkpoint at step " + saved.step());
     *     }
     *     return true;
     * });
     * }</pre>
     *
     * @param listener returns whether to continue watching
     */
    public void watch(String thread, Predicate<ThreadEvent> listener) {
        inspector.watch(thread, listener);
    }

    @Override
    public void close() {
        context.connection().close();
    }
}
