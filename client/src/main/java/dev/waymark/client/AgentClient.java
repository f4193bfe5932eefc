package dev.waymark.client;

import dev.waymark.checkpoint.CheckpointFormat;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.RequestLimits;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.list.ReportedAgents;
import dev.waymark.client.request.Approval;
import dev.waymark.client.request.ApprovalRequest;
import dev.waymark.client.request.DecisionKey;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.Prompt;
import dev.waymark.client.request.Question;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.save.SaveOptions;
import dev.waymark.client.watch.Watcher;
import dev.waymark.connect.Connection;
import dev.waymark.contract.thread.StatusReport;
import dev.waymark.conversation.call.PendingItem;
import dev.waymark.conversation.fact.PersonFact.ApprovalDecided;
import dev.waymark.conversation.fact.PersonFact.BudgetRaised;
import dev.waymark.conversation.fact.PersonFact.OutcomeSettled;
import dev.waymark.conversation.value.Json;
import dev.waymark.history.Timeline;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Starts, answers and inspects threads from any process that reaches the Temporal server. A thread is identified by its
 * id; a caller needs to store nothing else between calls or processes.
 *
 * <p>Methods that start or continue a turn, except {@link #start}, wait for its outcome, which they read from history.
 * A turn continues if the connection is lost or the caller ends; {@link #withTimeout} limits the wait. Sending a
 * message twice with the same id is harmless. Reading needs no worker. Thread-safe. Failures that a caller can handle
 * are thrown as {@link WaymarkException}.
 *
 * <p>{@link #requests} has methods that do not wait. {@link #lists} lists threads, {@link #inspector} examines one
 * thread, and {@link #saved} saves checkpoints outside of the server.
 *
 * <pre>{@code
 * try (AgentClient client = AgentClient.connect()) {
 *     AgentResult result = client.prompt("assistant", "Hello");
 *     System.out.println(AgentResult.assertComplete(result).text());
 * }
 * }</pre>
 */
public final class AgentClient implements AutoCloseable {
    private final ClientContext context;
    private final OutcomeSaver saves;
    private final OutcomeWaiter outcomes;
    private final ThreadResumer resumer;
    private final ThreadSender sender;
    private final ThreadStarter starter;
    private final ThreadInspector inspector;

    private AgentClient(ClientContext context) {
        this.context = context;
        this.saves = new OutcomeSaver(context);
        this.outcomes = new OutcomeWaiter(context, saves);
        this.resumer = new ThreadResumer(context, outcomes, saves);
        this.sender = new ThreadSender(context, outcomes, saves, resumer);
        this.starter = new ThreadStarter(context, outcomes, saves, resumer, sender);
        this.inspector = new ThreadInspector(context);
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

    /** Returns a client that waits at most this long for an outcome. The turn continues after a timeout. */
    public AgentClient withTimeout(Duration most) {
        return new AgentClient(context.withTimeout(most));
    }

    /**
     * Returns a client that decides about calls that need approval while it waits for an outcome. The Java thread that
     * waits invokes the callback once for each call, even while other calls of the turn are running. The decision
     * applies only to the arguments that the callback was given. Without a callback, the result is {@link
     * AgentResult.Interrupted} when a person has to decide.
     *
     * <pre>{@code
     * client.onApproval(request -> isHarmless(request.args()) ? Approval.approve() : Approval.deny("Too risky."))
     *         .prompt("billing", "Refund the last order");
     * }</pre>
     */
    public AgentClient onApproval(Function<ApprovalRequest, ApprovalDecided> callback) {
        return new AgentClient(context.withCallbacks(others -> others.withApproval(callback)));
    }

    /** Returns a client that answers questions while it waits. A question stays open if the callback returns empty. */
    public AgentClient onQuestion(Function<Question, Optional<String>> callback) {
        return new AgentClient(context.withCallbacks(others -> others.withQuestion(callback)));
    }

    /**
     * Returns a client that saves the threads whose outcomes it waits for. It saves asynchronously, by default after
     * each step, and waits for the last save before it returns an outcome. Failures of the saver are reported to the
     * listener and do not change the outcome.
     *
     * <p>Methods that continue a thread, such as {@link #run}, {@link #start}, {@link #say} and {@link #answer},
     * restore the thread if only the saver has it. Threads can therefore survive a restart of a server that keeps
     * everything in memory.
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

    /**
     * Returns a client that reports events to the watcher while it waits for a turn, in the Java thread that waits: what
     * happens, the text of replies, and each version that the thread reaches.
     */
    public AgentClient watchedBy(Watcher watcher) {
        return new AgentClient(context.watchedBy(watcher));
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
    public AgentResult prompt(String agent, String message) {
        return run(Prompt.of(agent, message));
    }

    /** Starts a thread from the prompt, or continues the open thread that it names, and waits for the outcome. */
    public AgentResult run(Prompt prompt) {
        return starter.run(prompt).await();
    }

    /**
     * Like {@link #run}, with everything that happens meanwhile as one stream: text as the model writes it, requests to
     * people, each saved checkpoint, and the outcome as the last event. Callbacks and the saver of this client are used
     * as in {@link #run}.
     *
     * <p>The turn begins when the stream is consumed. Close the stream: otherwise, one that is not consumed to its end
     * keeps a Java thread. Closing it early ends the wait and the saving; the turn continues.
     *
     * <pre>{@code
     * try (Stream<TurnEvent> events = client.savingIn(SaveOptions.in(saver)).stream(prompt)) {
     *     events.forEach(event -> {
     *         if (event instanceof TurnEvent.Said said) {
     *             System.out.print(said.words().text());
     *         } else if (event instanceof TurnEvent.Saved saved) {
     *             System.out.println("Checkpoint saved at step " + saved.checkpoint().step());
     *         }
     *     });
     * }
     * }</pre>
     *
     * @throws WaymarkException from the stream, where {@link #run} throws it
     */
    public Stream<TurnEvent> stream(Prompt prompt) {
        return stream(client -> client.run(prompt));
    }

    /**
     * Like {@link #stream(Prompt)}, for any method that waits for an outcome, such as {@link #answer} or {@link #resume}.
     *
     * <pre>{@code
     * client.stream(waiting -> waiting.answer("trip", "Friday"))
     * }</pre>
     *
     * @param turn receives the client to call
     */
    public Stream<TurnEvent> stream(Function<AgentClient, AgentResult> turn) {
        return TurnStream.of(
                (watcher, saving) -> {
                    ClientContext watched = context.watchedBy(watcher);
                    return turn.apply(
                            new AgentClient(saving.map(watched::savingIn).orElse(watched)));
                },
                context.watcher(),
                context.saving());
    }

    /**
     * Starts or continues a thread without waiting for an outcome. Returns as soon as the server has stored the
     * request; needs no worker. On a server that keeps everything in memory, a client with a saver waits until the
     * first checkpoint of a named thread is saved; {@link SavedThreads#follow} saves later ones.
     */
    public Started start(Prompt prompt) {
        return starter.start(prompt);
    }

    /** A thread, and the run that received the request. */
    public record Started(String thread, String runId) {}

    /**
     * Continues a closed thread, however it ended, in a new thread. The record of side effects is carried over: an open
     * call that may have taken effect has an unknown outcome and is not simply repeated. Resuming the same thread twice
     * with the same options, even concurrently, gives one thread.
     *
     * @return the outcome of the continued turn; if the turn of the closed thread was complete, and the options contain
     * neither an answer nor a thread id, the outcome of that turn
     */
    public AgentResult resume(String thread, ResumeOptions how) {
        return resumer.resume(thread, how).await();
    }

    /**
     * Continues from a checkpoint of any documented format; the format is detected.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} if the bytes are not a checkpoint; then
     * nothing has started
     */
    public AgentResult resume(byte[] checkpoint, ResumeOptions how) {
        return resumer.resume(checkpoint, "", how).await();
    }

    /** Continues from a checkpoint, and names {@code place} as its origin in the messages of failures. */
    public AgentResult resume(byte[] checkpoint, String place, ResumeOptions how) {
        return resumer.resume(checkpoint, place, how).await();
    }

    /**
     * Starts a new thread with the conversation of another one. If the options contain a message, sends it to the new
     * thread and waits for the outcome. Calls that the other thread has made are not repeated, and the other thread
     * continues independently. Forking twice with the same options gives one thread.
     */
    public AgentResult fork(String thread, ForkOptions how) {
        return resumer.fork(thread, how).turn().await();
    }

    /** Requests that return as soon as they are accepted, for callers that do not wait for outcomes. */
    public ThreadRequests requests() {
        return new ThreadRequests(starter, resumer, sender, saves);
    }

    /** Methods that list the threads of the server, and the requests in them that wait for a person. */
    public ThreadLists lists() {
        return new ThreadLists(context, resumer);
    }

    /** The agents that the workers of this client's task queue report. Keep the object: it remembers their answer. */
    public ReportedAgents reportedAgents() {
        return new ReportedAgents(context.connection(), context.requests().taskQueue());
    }

    /** Methods that examine one thread: watching, verification and spans. */
    public ThreadInspector inspector() {
        return inspector;
    }

    /** Methods that save and restore threads, for programs whose threads must survive the loss of the server. */
    public SavedThreads saved() {
        return new SavedThreads(context, resumer, saves);
    }

    /** Sends another message and waits for the outcome of the turn that consumes it. */
    public AgentResult say(String thread, String message) {
        return sender.say(thread, message).await();
    }

    /**
     * Sends a message with an id chosen by the caller. Sending the message again with the same id has no effect and
     * returns the same outcome.
     */
    public AgentResult say(String thread, String id, String message) {
        return sender.say(thread, id, message).await();
    }

    /** Runs the last turn again, which must have failed or been stopped. Waits for the outcome. */
    public AgentResult retry(String thread) {
        return sender.retry(thread).await();
    }

    /** Answers the only open question, and waits until the turn ends or waits for a person again. */
    public AgentResult answer(String thread, String answer) {
        return sender.answer(thread, Optional.empty(), answer).await();
    }

    /** Answers the open question of one call, and waits for the outcome of the turn. */
    public AgentResult answer(String thread, String callId, String answer) {
        return sender.answer(thread, Optional.of(callId), answer).await();
    }

    /** Approves the only call that needs approval, and waits until the turn ends or waits for a person again. */
    public AgentResult approve(String thread) {
        return decide(thread, Approval.approve());
    }

    /** Denies the only call that needs approval. The model is told the reason. */
    public AgentResult deny(String thread, String reason) {
        return decide(thread, Approval.deny(reason));
    }

    /** Decides about a call that needs approval. */
    public AgentResult decide(String thread, ApprovalDecided approval) {
        return sender.decide(thread, approval).await();
    }

    /** Decides about a call of an agent that accepts only signed decisions, and signs the decision with this key. */
    public AgentResult decide(String thread, ApprovalDecided approval, DecisionKey key) {
        return sender.decide(thread, approval, key).await();
    }

    /** Settles a call of an agent that accepts only signed decisions, and signs the settlement with this key. */
    public AgentResult settle(String thread, OutcomeSettled settlement, DecisionKey key) {
        return sender.settle(thread, settlement, key).await();
    }

    /** Settles a call with an unknown outcome. */
    public AgentResult settle(String thread, OutcomeSettled settlement) {
        return sender.settle(thread, settlement).await();
    }

    /** Raises limits. A turn that ended at a limit continues. */
    public AgentResult raise(String thread, BudgetRaised raise) {
        return sender.raise(thread, raise).await();
    }

    /** Ends the running turn. Queued messages stay queued for the next turn. */
    public AgentResult stop(String thread) {
        return sender.stop(thread).await();
    }

    /** Deletes the conversation. A running turn is stopped. The record of side effects is kept. */
    public Started clear(String thread) {
        return sender.clear(thread);
    }

    /** Deletes the conversation and the record of side effects, so that a repeated call takes effect again. */
    public Started clearAll(String thread) {
        return sender.clearAll(thread);
    }

    /**
     * Closes the thread as soon as it is idle. Returns whether it has closed: false if a turn is running, or if the
     * thread has not closed within ten seconds.
     */
    public boolean close(String thread) {
        return sender.close(thread);
    }

    /** Cancels the thread, and waits until its running work has ended. */
    public AgentResult cancel(String thread) {
        return sender.cancel(thread).await();
    }

    /**
     * Destroys the key of a closed thread, so that nobody can read the thread or its subagents again, not even from
     * copies of their histories. Other threads that began with the conversation of this thread have their own keys.
     * Forgetting a thread again changes nothing.
     *
     * @param terminate whether to terminate the thread and its subagents if they are open
     * @throws WaymarkException.Refused if the thread is open and is not to be terminated, or has no key of its own
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

    /** The outcome of the latest turn. Waits while the turn runs, but not for people. Never runs the turn again. */
    public AgentResult result(String thread) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> outcomes.result(RequestLimits.thread(thread), deadline));
    }

    /** The requests of this thread that wait for a person. */
    public List<PendingItem> pending(String thread) {
        return inspector.pending(thread);
    }

    /** The status of a thread, from its history. */
    public StatusReport status(String thread) {
        return StatusReport.of(timeline(thread).now());
    }

    /** A checkpoint of the current state. */
    public Json checkpoint(String thread, CheckpointFormat format) {
        return format.view(timeline(thread));
    }

    /** The history of a thread, as far as the server still has it. */
    public Timeline timeline(String thread) {
        return inspector.timeline(thread);
    }

    /** The history of a thread up to a version ({@code 3}) or an event ({@code e42}, {@code RUN/e42}). */
    public Timeline timeline(String thread, String place) {
        return context.translated(() -> context.read(RequestLimits.thread(thread), place));
    }

    /** Reports all moments in history and all new ones, until the thread closes or the watcher ends the watch. */
    public void watch(String thread, Watcher watcher) {
        inspector.watch(thread, watcher);
    }

    @Override
    public void close() {
        context.connection().close();
    }
}
