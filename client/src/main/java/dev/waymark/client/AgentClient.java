package dev.waymark.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.agent.AgentSpec;
import dev.waymark.checkpoint.CheckpointCorruption;
import dev.waymark.checkpoint.CheckpointFormat;
import dev.waymark.checkpoint.CheckpointReader;
import dev.waymark.checkpoint.RestoredCheckpoint;
import dev.waymark.connect.Connection;
import dev.waymark.contract.PendingItem;
import dev.waymark.contract.SayPayload;
import dev.waymark.contract.StartInput;
import dev.waymark.contract.StatusReport;
import dev.waymark.contract.WireNames;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.history.HistoryReader;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.saver.SaverException;
import dev.waymark.tool.ToolArguments;
import io.grpc.StatusRuntimeException;
import io.temporal.client.WorkflowServiceException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Starts, answers and inspects threads from any process that reaches the Temporal server. What is known of a thread is
 * its id: nothing has to be kept between two calls, nor to be handed from one process to the next.
 *
 * <p>Methods that cause work wait for the turn's outcome, which they read from history; a lost connection or a lost
 * caller never ends a turn. Whoever can't wait that long takes {@link #withTimeout}. Sending the same message id twice is
 * harmless. Reading needs no worker. Thread-safe; throws nothing but {@link WaymarkException} for what may go wrong.
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
    private static final long LONG_WAIT_MILLIS = 20_000;

    private final Connection connection;
    private final HistoryReader histories;
    private final Requests requests;
    private final ThreadDirectory directory;
    private final Optional<Duration> timeout;
    private final Callbacks callbacks;
    private final Optional<SaveOptions> saving;

    private AgentClient(Connection connection, String taskQueue) {
        this.connection = connection;
        this.histories = new HistoryReader(connection.stubs(), connection.namespace());
        this.requests = new Requests(connection, histories, taskQueue);
        this.directory = new ThreadDirectory(connection, histories);
        this.timeout = Optional.empty();
        this.callbacks = Callbacks.NONE;
        this.saving = Optional.empty();
    }

    private AgentClient(
            AgentClient other, Optional<Duration> timeout, Callbacks callbacks, Optional<SaveOptions> saving) {
        this.connection = other.connection;
        this.histories = other.histories;
        this.requests = other.requests;
        this.directory = other.directory;
        this.timeout = timeout;
        this.callbacks = callbacks;
        this.saving = saving;
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
        } catch (dev.waymark.connect.ServerUnreachable e) {
            throw unreachable(e.getMessage(), e);
        }
    }

    /** Connects to this address ({@code host:port}), everything else as the environment says. */
    public static AgentClient connect(String address) {
        try {
            return of(Connection.to(address));
        } catch (dev.waymark.connect.ServerUnreachable e) {
            throw unreachable(e.getMessage(), e);
        }
    }

    private static AgentClient of(Connection connection) {
        String taskQueue = Optional.ofNullable(System.getenv(TASK_QUEUE_SETTING))
                .filter(name -> !name.isBlank())
                .orElse(WireNames.TASK_QUEUE);
        return new AgentClient(connection, taskQueue);
    }

    /** The same client, which waits at most this long for an outcome. The turn goes on without the caller. */
    public AgentClient withTimeout(Duration most) {
        return new AgentClient(this, Optional.of(most), callbacks, saving);
    }

    /**
     * The same client, which decides on calls that wait for approval while it waits for an outcome. The callback is asked
     * once for each, also while other calls of the turn still run, in the thread that waits; what it says is bound to the
     * arguments that it was shown. Without one, a result is {@link AgentResult.Interrupted} where a person has to decide.
     *
     * <pre>{@code
     * client.onApproval(request -> isHarmless(request.args()) ? Approval.approve() : Approval.deny("Too risky."))
     *         .prompt("billing", "Refund the last order");
     * }</pre>
     */
    public AgentClient onApproval(Function<ApprovalRequest, Approval> callback) {
        return new AgentClient(this, timeout, callbacks.withApproval(callback), saving);
    }

    /** The same for questions. One that the callback returns nothing for is left to others. */
    public AgentClient onQuestion(Function<Question, Optional<String>> callback) {
        return new AgentClient(this, timeout, callbacks.withQuestion(callback), saving);
    }

    /**
     * The same client, which saves the threads whose outcomes it waits for: after each step, behind the thread, and the
     * last step before it returns the outcome. A saver that fails is told of, and changes nothing about the outcome.
     *
     * <p>What the server does not know and the saver has is restored by {@link #run}, {@link #start} and {@link
     * #restore}: so threads outlive a server that keeps everything in memory, and may have names there.
     *
     * <pre>{@code
     * try (CheckpointSaver saver = SaverTarget.parse("file:checkpoints").open()) {
     *     client.savingIn(SaveOptions.in(saver)).run(Prompt.of("assistant", "Hello again").withThread("trip"));
     * }
     * }</pre>
     */
    public AgentClient savingIn(SaveOptions where) {
        return new AgentClient(this, timeout, callbacks, Optional.of(where));
    }

    // ---- starting

    /** One run: a thread of its own, which closes when its turn ends. */
    public AgentResult prompt(String agent, String message) {
        return run(Prompt.of(agent, message));
    }

    /** Starts what the prompt describes, or continues the open thread that it names, and waits for the outcome. */
    public AgentResult run(Prompt prompt) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() -> {
            Valid valid = Valid.of(prompt);
            boolean restored = isRestored(valid);
            if (restored && valid.saysNothing()) {
                return result(valid.thread(), deadline);
            }
            Optional<Requests.Known> known = known(valid);
            if (known.isPresent()) {
                return sayTo(valid.thread(), known.get(), valid, deadline);
            }
            StartInput input = newThread(valid).saying(valid.say());
            Optional<String> runId = start(valid.thread(), input, valid.prompt().id());
            if (runId.isEmpty()) {
                // Somebody else started it in between.
                return sayTo(valid.thread(), open(valid), valid, deadline);
            }
            return await(valid.thread(), runId.get(), waitingFor(valid, 2), deadline);
        });
    }

    /** Starts or continues without waiting. It is durable when this returns, and no worker is needed. */
    public Started start(Prompt prompt) {
        return translated(() -> {
            Valid valid = Valid.of(prompt);
            isRestored(valid);
            Optional<Requests.Known> known = known(valid);
            if (known.isPresent()) {
                checkAgent(valid, known.get());
                requests.signal(valid.thread(), WireNames.SAY, valid.say());
                return new Started(valid.thread(), known.get().runId());
            }
            StartInput input = newThread(valid);
            return new Started(
                    valid.thread(), requests.signalWithStart(valid.thread(), WireNames.SAY, valid.say(), input));
        });
    }

    /** A thread that was sent something, and the run that it went to. */
    public record Started(String thread, String runId) {}

    /** A prompt whose parts have been checked. */
    private record Valid(Prompt prompt, String thread) {
        static Valid of(Prompt prompt) {
            prompt.agent().ifPresent(RequestLimits::agent);
            prompt.message().ifPresent(RequestLimits::message);
            prompt.messages().ifPresent(RequestLimits::messages);
            prompt.schema().ifPresent(RequestLimits::schema);
            return new Valid(
                    prompt, prompt.thread().map(RequestLimits::thread).orElseGet(() -> "run-" + UUID.randomUUID()));
        }

        boolean isNamed() {
            return prompt.thread().isPresent();
        }

        boolean saysNothing() {
            return prompt.message().isEmpty()
                    && prompt.messages().map(JsonNode::isEmpty).orElse(true);
        }

        SayPayload say() {
            return new SayPayload(
                    Optional.of(prompt.id()), prompt.message(), prompt.messages(), Optional.empty(), prompt.schema());
        }
    }

    private Optional<Requests.Known> known(Valid valid) {
        Optional<Requests.Known> known = valid.isNamed() ? requests.find(valid.thread()) : Optional.empty();
        if (known.isPresent() && !known.get().open()) {
            if (refusedRun(valid.thread()).isPresent()) {
                return Optional.empty();
            }
            throw Requests.closed(valid.thread());
        }
        return known;
    }

    private Requests.Known open(Valid valid) {
        return known(valid).orElseThrow(() -> Requests.noSuchThread(valid.thread()));
    }

    private StartInput newThread(Valid valid) {
        String agent = valid.prompt()
                .agent()
                .orElseThrow(() -> RequestLimits.badInput(
                        "no agent named for a new thread: " + valid.thread(), "Name one with --agent"));
        if (valid.saysNothing()) {
            throw RequestLimits.badInput("nothing to say to a new thread: " + valid.thread(), "Give it a message");
        }
        if (valid.isNamed()) {
            checkThatItLasts(valid.thread(), valid.prompt().volatileAllowed());
        }
        StartInput input = StartInput.of(agent)
                .withMaxIterations(valid.prompt().maxIterations())
                .withContext(valid.prompt().context().map(RequestLimits::context));
        return valid.isNamed() ? input : input.closingAfterOneTurn();
    }

    /**
     * Checks that a new thread of this name would outlive the server, or may be gone with it.
     *
     * @throws WaymarkException.VolatileStore when the server keeps everything in memory, and nothing is saved
     */
    public void checkThatItLasts(String thread, boolean volatileAllowed) {
        if (connection.isInMemory() && !volatileAllowed && saving.isEmpty()) {
            throw new WaymarkException.VolatileStore(
                    "the server keeps threads in memory only: " + thread,
                    "It would be gone with the server. Save it with --saver file:DIR, use --volatile to start it"
                            + " nevertheless, or a server that keeps what it is given");
        }
    }

    private void checkAgent(Valid valid, Requests.Known known) {
        if (valid.prompt().agent().isEmpty()) {
            return;
        }
        String own = histories.startInput(valid.thread(), known.runId()).agent();
        if (!own.isEmpty() && !own.equals(valid.prompt().agent().get())) {
            throw RequestLimits.badInput(
                    "the thread belongs to another agent: " + own, "Leave --agent out, or take another --thread");
        }
    }

    private AgentResult sayTo(String thread, Requests.Known known, Valid valid, WaitDeadline deadline) {
        checkAgent(valid, known);
        if (valid.prompt().context().isPresent()) {
            throw RequestLimits.badInput("the thread has its context already: " + thread, "Leave --context out");
        }
        Optional<Integer> most = valid.prompt().maxIterations();
        if (most.isPresent()
                && !most.equals(histories.startInput(thread, known.runId()).maxIterations())) {
            throw RequestLimits.badInput(
                    "the thread has its limit of iterations already: " + thread,
                    "Raise it with: waymark budget " + ValueText.quoted(thread) + " --iterations " + most.get());
        }
        return say(thread, valid.say(), deadline);
    }

    private static OutcomeDetector waitingFor(Valid valid, int fact) {
        return waitingFor(valid.say(), fact);
    }

    private static OutcomeDetector waitingFor(SayPayload say, int fact) {
        return say.content().isPresent()
                ? OutcomeDetector.forMessage(say.id().orElseThrow(), fact)
                : OutcomeDetector.forTurnAt(fact);
    }

    // ---- going on from where something was left

    /**
     * Goes on, in a new thread, from where a closed one ended, however it ended. What is known of its side effects goes
     * with it: a call that may have taken effect is not simply run again. The same resumed twice, even at once, is one
     * thread.
     *
     * @return the outcome of the turn that goes on; of a thread that was complete, and is given no answer, its own
     */
    public AgentResult resume(String thread, ResumeOptions how) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() -> {
            ResumeSource left = left(thread);
            return left.isOver(checked(how)) ? result(thread, deadline) : goOn(left, how, deadline);
        });
    }

    /** The same under a name of its own, without waiting for what comes of it. */
    public Started resumeOnly(String thread, String successor, ResumeOptions how) {
        return translated(() -> {
            ResumeSource left = left(thread);
            ResumeOptions named = checked(how.withThread(successor));
            checkThatItLasts(successor, how.volatileAllowed());
            Conversation begin = left.begin(named, successor, now());
            Optional<String> runId = requests.start(successor, left.input(named.agent(), begin));
            if (runId.isEmpty()) {
                factOfEarlier(read(successor), left.requestId(named));
            }
            return new Started(
                    successor, runId.orElseGet(() -> requests.get(successor).runId()));
        });
    }

    private ResumeSource left(String thread) {
        Requests.Known known = requests.get(RequestLimits.thread(thread));
        if (known.open()) {
            throw RequestLimits.badInput(
                    "the thread is still open: " + thread,
                    "Go on in it with: waymark answer " + ValueText.quoted(thread) + " TEXT, or waymark say");
        }
        Timeline timeline = read(thread);
        if (timeline.now().turn().status() == Turn.Status.NONE) {
            throw new WaymarkException.NotFound(
                    "the thread had no turn: " + thread, "Begin one with: waymark run --thread");
        }
        return ResumeSource.of(timeline);
    }

    /**
     * Goes on from a checkpoint of any documented format, which is known by its shape.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} when it is none, before anything starts
     */
    public AgentResult resume(byte[] checkpoint, ResumeOptions how) {
        return resume(checkpoint, "", how);
    }

    /** The same. {@code place} is where the checkpoint was found, for people whom it is not what they took it for. */
    public AgentResult resume(byte[] checkpoint, String place, ResumeOptions how) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        RestoredCheckpoint recovered = recovered(checkpoint, place);
        return translated(() -> {
            ResumeSource left = ResumeSource.of(recovered);
            if (recovered.state().turn().status() == Turn.Status.NONE
                    && checked(how).answer().orElse("").isBlank()) {
                throw RequestLimits.badInput("nothing was said in the checkpoint", "Give it a message with --answer");
            }
            if (left.isOver(how)) {
                String thread = recovered.thread().orElseGet(() -> left.threadId(how));
                return AgentResult.of(thread, "", left.state(), left.state().turn());
            }
            Optional<Requests.Known> own = how.thread().isPresent()
                    ? Optional.empty()
                    : recovered.thread().flatMap(requests::find);
            if (own.filter(Requests.Known::open).isPresent()) {
                String thread = recovered.thread().get();
                throw RequestLimits.badInput(
                        "the checkpoint's own thread is still open: " + thread,
                        "Go on in it with: waymark answer " + ValueText.quoted(thread)
                                + " TEXT, or waymark say, or in a second one with --thread");
            }
            return goOn(left, how, deadline);
        });
    }

    private static RestoredCheckpoint recovered(byte[] checkpoint, String place) {
        try {
            return CheckpointReader.read(checkpoint, now());
        } catch (CheckpointCorruption e) {
            String what = place.isEmpty() ? e.getMessage() : place + " (" + e.getMessage() + ")";
            throw e.type().equals(Problem.TOO_LARGE)
                    ? new WaymarkException.TooLarge(
                            "the checkpoint is too large: " + what,
                            "One version is enough: waymark checkpoint THREAD --format session")
                    : new WaymarkException.Refused(
                            e.type(),
                            "the checkpoint is corrupt: " + what,
                            "Nothing was started. Mend it, or take an earlier one");
        }
    }

    /**
     * The run of a thread that ended because its agent could not be had, if that is how the thread ended. It has done
     * nothing, so its id is free.
     */
    private Optional<String> refusedRun(String thread) {
        return Optional.of(read(thread))
                .filter(timeline -> timeline.ending().isPresent())
                .filter(timeline -> hadNoAgent(timeline.now()))
                .map(Timeline::runId);
    }

    private static boolean hadNoAgent(Conversation last) {
        return last.life() == Conversation.Life.CLOSING
                && last.agentRequested()
                && last.terms().isEmpty();
    }

    /**
     * Starts a thread, or returns empty when one of this id exists. Of several who make the same request at once for an
     * id that has become free, one starts it.
     */
    private Optional<String> start(String thread, StartInput input, String requestId) {
        return requests.start(thread, input)
                .or(() -> refusedRun(thread)
                        .flatMap(refused -> requests.startAnew(thread, input, requestId + "/" + refused)));
    }

    /**
     * Begins a new thread with what another one had come to, and says something there. It never repeats what the other
     * one has done by then, and the other one goes on without it. The same forked twice is one thread.
     */
    public AgentResult fork(String thread, ForkOptions how) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() -> {
            Forking forking = forking(thread, how);
            return begin(how.thread(), forking.input(), forking.begin(), forking.id(), deadline);
        });
    }

    /** The same without a word: nothing runs in the new thread until something is said or answered there. */
    public Forked forkOnly(String thread, ForkOptions how) {
        return translated(() -> {
            Forking forking = forking(thread, how);
            Optional<String> runId = start(how.thread(), forking.input(), forking.id());
            if (runId.isEmpty()) {
                factOfEarlier(read(how.thread()), forking.id());
            }
            String run = runId.orElseGet(() -> requests.get(how.thread()).runId());
            save(how.thread());
            return new Forked(StatusReport.of(forking.begin()).status(), new Started(how.thread(), run));
        });
    }

    /** A new thread, and how it stands. */
    public record Forked(String status, Started started) {}

    /** A state to begin with, and the request that it is made for. */
    private record Forking(String id, Conversation begin, StartInput input) {}

    private Forking forking(String thread, ForkOptions how) {
        how.message().ifPresent(RequestLimits::message);
        RequestLimits.thread(how.thread());
        checkThatItLasts(how.thread(), how.volatileAllowed());
        requests.get(RequestLimits.thread(thread));
        Timeline ancestor = how.place().map(place -> timeline(thread, place)).orElseGet(() -> read(thread));
        ResumeSource left = ResumeSource.of(ancestor);
        String id = left.forkId(how, ancestor.lastEventId());
        Conversation begin = new ForkRequest(id, how.message()).of(ancestor.now(), now());
        return new Forking(id, begin, left.input(Optional.empty(), begin));
    }

    /**
     * Brings a thread back that the server does not know and the saver has, under its own id: with its conversation, its
     * open question, and its calls under the idempotency keys that they had. It stays open. Empty when the server knows
     * it, when the saver does not, and when there is no saver.
     *
     * @throws WaymarkException.Refused with type {@code CheckpointCorruption} when what the saver has can't be read
     */
    public Optional<CheckpointLoaded> restore(String thread, ResumeOptions how) {
        return translated(() -> restored(RequestLimits.thread(thread), how));
    }

    private boolean isRestored(Valid valid) {
        ResumeOptions how = ResumeOptions.onward();
        how = valid.prompt().agent().map(how::withAgent).orElse(how);
        how = valid.prompt().maxIterations().map(how::withMaxIterations).orElse(how);
        return valid.isNamed() && restored(valid.thread(), how).isPresent();
    }

    private Optional<CheckpointLoaded> restored(String thread, ResumeOptions how) {
        if (saving.isEmpty() || requests.find(thread).isPresent()) {
            return Optional.empty();
        }
        Optional<Json> saved = load(saving.get(), thread);
        if (saved.isEmpty()) {
            return Optional.empty();
        }
        byte[] checkpoint = saved.get().canonical().getBytes(StandardCharsets.UTF_8);
        ResumeSource left = ResumeSource.of(recovered(checkpoint, "of " + thread));
        Conversation begin = left.begin(checked(how).withThread(thread), thread, now());
        // Somebody else may bring it back in this moment: what they bring is the same.
        Optional<CheckpointLoaded> loaded = requests.start(thread, left.input(how.agent(), begin))
                .map(runId -> CheckpointLoaded.of(thread, beginning(runId, begin)));
        loaded.ifPresent(saving.get().listener()::loaded);
        return loaded;
    }

    private Requests.Accepted update(String thread, String name, String id, Object payload, WaitDeadline deadline) {
        try {
            return requests.update(thread, name, id, payload, deadline);
        } catch (WaymarkException.NotFound e) {
            boolean isSaved = saving.isPresent()
                    && requests.find(thread).isEmpty()
                    && load(saving.get(), thread).isPresent();
            throw isSaved ? Requests.onlySaved(thread) : e;
        }
    }

    private static Optional<Json> load(SaveOptions saving, String thread) {
        try {
            return saving.saver().load(thread);
        } catch (SaverException e) {
            throw new WaymarkException.Refused(e.type(), String.valueOf(e.getMessage()), e.remedy());
        }
    }

    private static Moment beginning(String runId, Conversation begin) {
        return new Moment(runId, 1, begin.updatedAt(), Optional.empty(), begin);
    }

    private static Instant now() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    private static ResumeOptions checked(ResumeOptions how) {
        how.answer().ifPresent(RequestLimits::answer);
        how.agent().ifPresent(RequestLimits::agent);
        how.thread().ifPresent(RequestLimits::thread);
        return how;
    }

    private AgentResult goOn(ResumeSource left, ResumeOptions how, WaitDeadline deadline) {
        String thread = left.threadId(how);
        if (how.thread().isPresent()) {
            checkThatItLasts(thread, how.volatileAllowed());
        }
        Conversation begin = left.begin(how, thread, now());
        AgentResult result = begin(thread, left.input(how.agent(), begin), begin, left.requestId(how), deadline);
        boolean anyAgent = left.state().agent().isEmpty() && how.agent().isEmpty();
        if (anyAgent
                && result instanceof AgentResult.Failed failed
                && refusedRun(result.thread()).isPresent()) {
            throw new WaymarkException.Refused(
                    failed.problem().orElseThrow().type(),
                    failed.problem().orElseThrow().message(),
                    "Name one with --agent");
        }
        begin.waitingCalls().stream()
                .filter(call -> call.result().isPresent() && isToBeApproved(call.id(), result))
                .findFirst()
                .ifPresent(call -> {
                    throw new WaymarkException.NotFound(
                            "no question is open, but this call waits for a decision: " + call.id(),
                            "Decide with: waymark approve " + ValueText.quoted(thread) + ", or waymark deny");
                });
        return result;
    }

    private static boolean isToBeApproved(String callId, AgentResult result) {
        return result instanceof AgentResult.Interrupted interrupted
                && interrupted.pending().stream()
                        .anyMatch(item ->
                                item.callId().equals(callId) && item.kind().equals(PendingItem.APPROVAL));
    }

    /** The fact of a thread that was this request, when it was made before. */
    private static int factOfEarlier(Timeline timeline, String requestId) {
        return timeline.now()
                .seen()
                .factOf(requestId)
                .orElseThrow(() -> RequestLimits.badInput(
                        "there is such a thread, and it did not come of this: " + timeline.thread(),
                        "Take another --thread"));
    }

    /** Begins a thread with this state, unless this request began it before, and waits for what comes of it. */
    private AgentResult begin(
            String thread, StartInput input, Conversation begin, String requestId, WaitDeadline deadline) {
        Optional<String> runId = start(thread, input, requestId);
        if (runId.isPresent() && begin.isSettled()) {
            save(new ThreadSnapshot(thread, beginning(runId.get(), begin), Optional.empty(), Optional.empty()));
            return AgentResult.of(thread, runId.get(), begin, begin.turn());
        }
        if (runId.isPresent()) {
            return await(
                    thread,
                    runId.get(),
                    OutcomeDetector.forTurnAt(begin.counters().facts()),
                    deadline);
        }
        Timeline timeline = read(thread);
        int fact = factOfEarlier(timeline, requestId);
        OutcomeDetector past = OutcomeDetector.forTurnAt(fact);
        for (Moment moment : timeline.moments()) {
            Optional<OutcomeDetector.Reached> reached = past.observe(moment);
            if (reached.isPresent()) {
                save(timeline);
                return resultOf(thread, reached.get());
            }
        }
        return await(thread, timeline.runId(), OutcomeDetector.forTurnAt(fact), deadline);
    }

    // ---- going on

    /** Another message, and the outcome of the turn that consumes it. */
    public AgentResult say(String thread, String message) {
        return say(thread, newId(), message);
    }

    /** The same under an id of the caller's: sent again, it is not said again, and has the same outcome. */
    public AgentResult say(String thread, String id, String message) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() ->
                say(RequestLimits.thread(thread), SayPayload.message(id, RequestLimits.message(message)), deadline));
    }

    /** The last failed or stopped turn once more. */
    public AgentResult retry(String thread) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() -> say(RequestLimits.thread(thread), SayPayload.retry(newId()), deadline));
    }

    private AgentResult say(String thread, SayPayload say, WaitDeadline deadline) {
        Requests.Accepted accepted = update(thread, WireNames.SAY, say.id().orElseThrow(), say, deadline);
        return await(thread, accepted, () -> waitingFor(say, accepted.ack().fact()), deadline);
    }

    /** Answers the only open question, and waits until the turn ends or asks the next one. */
    public AgentResult answer(String thread, String answer) {
        return answer(thread, Optional.empty(), answer);
    }

    /** Answers the question of this call. */
    public AgentResult answer(String thread, String callId, String answer) {
        return answer(thread, Optional.of(callId), answer);
    }

    private AgentResult answer(String thread, Optional<String> callId, String answer) {
        // The id makes a second sending harmless also where the update's own does not reach: in the thread's next run.
        String id = newId();
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("id", id);
        callId.ifPresent(named -> payload.put("callId", named));
        payload.put("answer", RequestLimits.answer(answer));
        return sendAndAwait(thread, WireNames.ANSWER, id, payload);
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
        approval.args().ifPresent(args -> checkArguments(thread, approval, args));
        String id = newId();
        return sendAndAwait(thread, approval.approved() ? WireNames.APPROVE : WireNames.DENY, id, approval.payload(id));
    }

    /** Whoever changes arguments is told when they are none for the tool, before the approval is spent on them. */
    private void checkArguments(String thread, Approval approval, Json args) {
        Timeline timeline = timeline(thread);
        List<PendingItem> approvals = PendingItem.of(thread, timeline.now()).stream()
                .filter(item -> item.kind().equals(PendingItem.APPROVAL))
                .filter(item -> approval.callId().map(item.callId()::equals).orElse(true))
                .toList();
        if (approvals.size() == 1) {
            PendingItem item = approvals.get(0);
            translated(() -> agentOf(thread, timeline, item.callId()))
                    .flatMap(agent -> agent.tool(item.tool()))
                    .flatMap(spec -> ToolArguments.problem(spec.input(), args))
                    .ifPresent(why -> {
                        throw RequestLimits.badInput(
                                "the arguments do not fit the tool " + item.tool() + ": " + why,
                                "The call waits as before");
                    });
        }
    }

    /** Whose call it is: one of a subagent's thread is named with the way down to it. */
    private Optional<AgentSpec> agentOf(String thread, Timeline timeline, String callId) {
        int slash = callId.indexOf('/');
        if (slash < 0 || timeline.now().calls().contains(callId)) {
            return timeline.agent();
        }
        String below = WireNames.subagentThread(thread, callId.substring(0, slash));
        return histories.read(below).flatMap(further -> agentOf(below, further, callId.substring(slash + 1)));
    }

    /** Says what became of a call of which nobody knows whether it took effect. */
    public AgentResult settle(String thread, Settlement settlement) {
        return sendAndAwait(thread, WireNames.SETTLE, settlement.payload());
    }

    /** Raises limits. A turn that ended on one continues. */
    public AgentResult raise(String thread, LimitRaise raise) {
        return sendAndAwait(thread, WireNames.BUDGET, raise.payload());
    }

    /** Ends the turn. What is queued stays for the next message. */
    public AgentResult stop(String thread) {
        return sendAndAwait(thread, WireNames.STOP, Map.of());
    }

    private AgentResult sendAndAwait(String thread, String name, Map<String, ?> payload) {
        return sendAndAwait(thread, name, newId(), payload);
    }

    private AgentResult sendAndAwait(String thread, String name, String id, Map<String, ?> payload) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() -> {
            Requests.Accepted accepted = update(RequestLimits.thread(thread), name, id, payload, deadline);
            return await(
                    thread,
                    accepted,
                    () -> OutcomeDetector.forTurnAt(accepted.ack().fact()),
                    deadline);
        });
    }

    /**
     * Sends something without waiting for what comes of it: that is for whoever {@link #watch watches}. It is accepted
     * when this returns.
     */
    public Posted post(String thread, OutboundMessage letter) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() -> {
            Requests.Accepted accepted = requests.update(
                    RequestLimits.thread(thread), letter.name(), letter.id(), letter.payload(), deadline);
            return new Posted(accepted.runId(), accepted.ack().fact());
        });
    }

    /** The run that took a letter, and the number of the fact that it became. */
    public record Posted(String runId, int fact) {}

    private Requests.Accepted send(String thread, String name, Map<String, ?> payload, WaitDeadline deadline) {
        return update(RequestLimits.thread(thread), name, newId(), payload, deadline);
    }

    private static String newId() {
        return UUID.randomUUID().toString();
    }

    /** Forgets the conversation. A turn that runs is stopped. What is known of side effects is kept. */
    public Started clear(String thread) {
        return clear(thread, Map.of());
    }

    /** Forgets the conversation, and what is known of side effects as well: the same calls take effect again. */
    public Started clearAll(String thread) {
        return clear(thread, Map.of("all", true));
    }

    private Started clear(String thread, Map<String, ?> payload) {
        return translated(() -> {
            Requests.Accepted cleared = send(thread, WireNames.CLEAR, payload, WaitDeadline.after(timeout));
            save(thread);
            return new Started(thread, cleared.runId());
        });
    }

    /** Replaces the conversation of an open thread by nothing at all, as {@link #clear} does. */
    public Started replaceByNothing(String thread, JsonNode emptyList) {
        return translated(() -> {
            SayPayload say = new SayPayload(
                    Optional.of(newId()), Optional.empty(), Optional.of(emptyList), Optional.empty(), Optional.empty());
            String id = say.id().orElseThrow();
            Requests.Accepted cleared =
                    update(RequestLimits.thread(thread), WireNames.SAY, id, say, WaitDeadline.after(timeout));
            save(thread);
            return new Started(thread, cleared.runId());
        });
    }

    /** Ends the thread once it is idle. Returns whether it has ended already. */
    public boolean close(String thread) {
        WaitDeadline deadline = WaitDeadline.after(timeout).orSooner(Requests.WORKER_WAIT);
        return translated(() -> {
            Requests.Accepted accepted = send(thread, WireNames.CLOSE, Map.of(), deadline);
            MomentStream feed = feed(thread, accepted.runId());
            while (!deadline.isPast() && !feed.isClosed()) {
                for (Moment moment : feed.next(deadline.millisLeft())) {
                    boolean applied =
                            moment.state().counters().facts() >= accepted.ack().fact();
                    if (applied && moment.state().turn().isRunning()) {
                        return false;
                    }
                }
            }
            return feed.isClosed();
        });
    }

    /** Ends the thread now: work in flight is cancelled and awaited. */
    public AgentResult cancel(String thread) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() -> {
            Requests.Known known = requests.getOpen(RequestLimits.thread(thread));
            requests.cancel(thread);
            MomentStream feed = feed(thread, known.runId());
            WaitPolicy patience = new WaitPolicy(requests, thread, deadline);
            while (!feed.isClosed()) {
                feed.next(patience.millis());
                patience.check(feed);
            }
            save(thread);
            return endOf(thread, feed);
        });
    }

    // ---- reading

    /**
     * The outcome of the latest turn. It waits while one runs, and not while that waits for a person. Nothing is executed
     * again.
     */
    public AgentResult result(String thread) {
        WaitDeadline deadline = WaitDeadline.after(timeout);
        return translated(() -> result(RequestLimits.thread(thread), deadline));
    }

    private AgentResult result(String thread, WaitDeadline deadline) {
        Timeline timeline = read(thread);
        Conversation now = timeline.now();
        if (now.turn().status() == Turn.Status.NONE) {
            throw new WaymarkException.NotFound(
                    "no turn yet: " + thread, "Begin one with: waymark say " + ValueText.quoted(thread) + " MESSAGE");
        }
        boolean attended = now.isInterrupted() && attendant(thread).hasBusinessIn(now);
        if ((now.isSettled() && !attended) || timeline.ending().isPresent()) {
            save(timeline);
            return AgentResult.of(thread, timeline.runId(), now, now.turn());
        }
        return await(
                thread,
                timeline.runId(),
                OutcomeDetector.forTurnAt(now.counters().facts()),
                deadline);
    }

    /** What waits for a person in this thread. */
    public List<PendingItem> pending(String thread) {
        return translated(() -> {
            Timeline timeline = read(RequestLimits.thread(thread));
            return timeline.ending().isPresent() ? List.of() : PendingItem.of(thread, timeline.now());
        });
    }

    /** What waits for a person in any open thread, the longest waiting first. */
    public List<PendingItem> pending(Progress progress) {
        return translated(() -> directory
                .project(
                        directory.threads(true),
                        progress,
                        (listed, run) -> run.expectedState().map(state -> PendingItem.of(listed.thread(), state)))
                .stream()
                .flatMap(List::stream)
                // What a subagent's thread asks shows in the thread above as well, which is where it is answered.
                .collect(Collectors.toMap(
                        item -> item.thread() + "/" + item.callId(),
                        item -> item,
                        (one, other) -> one.thread().length() < other.thread().length() ? one : other,
                        LinkedHashMap::new))
                .values()
                .stream()
                .sorted(Comparator.comparing(PendingItem::since))
                .toList());
    }

    /**
     * All threads that the server still holds, the one that changed last first. Those are left out that closed at once
     * because they named no agent, and there was not just one: nothing was done there, and their ids are free.
     */
    public List<ThreadSummary> threads(Progress progress) {
        return translated(() -> directory
                .project(
                        directory.threads(false),
                        progress,
                        (listed, run) -> run.expectedState()
                                .filter(state -> !state.agent().isEmpty() || !hadNoAgent(state))
                                .map(state -> new ThreadSummary(
                                        listed.thread(),
                                        StatusReport.of(state).status(),
                                        listed.open(),
                                        state.agent(),
                                        state.turn().number(),
                                        state.updatedAt())))
                .stream()
                .sorted(Comparator.comparing(ThreadSummary::updated).reversed())
                .toList());
    }

    public StatusReport status(String thread) {
        return translated(
                () -> StatusReport.of(read(RequestLimits.thread(thread)).now()));
    }

    /** A checkpoint of the present. */
    public Json checkpoint(String thread, CheckpointFormat format) {
        return format.view(timeline(thread));
    }

    /** A checkpoint of a version ({@code 3}), an event of the newest run ({@code e42}) or of any run ({@code RUN/e42}). */
    public Json checkpoint(String thread, CheckpointFormat format, String place) {
        return format.view(timeline(thread, place));
    }

    /** A thread as it stood at a version ({@code 3}), or at an event ({@code e42}, {@code RUN/e42}). */
    public Timeline timeline(String thread, String place) {
        Timeline timeline = timeline(thread);
        Moment moment = timeline.at(place)
                .orElseThrow(() -> new WaymarkException.NotFound(
                        "no such version: " + place, "See them with: waymark checkpoints " + ValueText.quoted(thread)));
        return timeline.upTo(moment);
    }

    /** Everything that is still known of a thread. */
    public Timeline timeline(String thread) {
        return translated(() -> read(RequestLimits.thread(thread)));
    }

    private Timeline read(String thread) {
        requests.get(thread);
        return histories.read(thread).orElseThrow(() -> Requests.noSuchThread(thread));
    }

    /** Tells of every moment that is still held, and of every new one, until the thread closes or the watcher has enough. */
    public void watch(String thread, Watcher watcher) {
        translated(() -> {
            Timeline timeline = read(RequestLimits.thread(thread));
            List<Moment> earlier = timeline.moments().stream()
                    .filter(moment -> !moment.runId().equals(timeline.runId()))
                    .toList();
            MomentStream feed = feed(thread, timeline.runId());
            LiveText words = new LiveText(connection, histories, thread);
            WaitPolicy patience = new WaitPolicy(requests, thread, WaitDeadline.after(Optional.empty()));
            boolean toldOfAbsence = false;
            WatcherNotifier telling = new WatcherNotifier(thread, timeline.cut(), watcher);
            boolean goesOn = earlier.stream().allMatch(telling::tell);
            while (goesOn && !feed.isClosed()) {
                long most = toldOfAbsence ? LONG_WAIT_MILLIS : patience.millis();
                List<Moment> next = feed.next(words.areDue() ? Math.min(most, words.millisToNext()) : most);
                next.forEach(words::follow);
                goesOn = next.stream().allMatch(telling::tell)
                        && words.next().map(watcher::said).orElse(true);
                Optional<WaymarkException.NoWorker> absence = patience.absence(feed);
                if (goesOn && absence.isPresent() && !toldOfAbsence) {
                    goesOn = watcher.waitsForWorker(absence.get());
                }
                toldOfAbsence = absence.isPresent() || (toldOfAbsence && next.isEmpty());
            }
            return thread;
        });
    }

    /**
     * Saves a thread as it goes on, behind it, until it closes or nobody wants it any more. It begins with the newest
     * version there is.
     */
    public SaveFollower follow(String thread, SaveOptions where) {
        return translated(() -> {
            MomentStream feed =
                    feed(thread, requests.get(RequestLimits.thread(thread)).runId());
            return SaveFollower.begin(
                    where, keeper -> new ThreadFollower(thread, feed, keeper, where.cadence()), this::translate);
        });
    }

    /** The same for all threads of the server, those that begin later included. Closed ones are saved once. */
    public SaveFollower followAll(SaveOptions where) {
        return SaveFollower.begin(
                where,
                keeper -> new AllThreadsFollower(
                        directory, listed -> feed(listed.thread(), listed.runId()), keeper, where.cadence()),
                this::translate);
    }

    /** Compares what the thread's history projects to with what its workflow recorded, and with what it says now. */
    public Verification verify(String thread) {
        return translated(() -> {
            requests.get(RequestLimits.thread(thread));
            return new Verifier(requests, histories).verify(thread);
        });
    }

    // ---- waiting

    private AgentResult await(
            String thread, Requests.Accepted accepted, Supplier<OutcomeDetector> waiting, WaitDeadline deadline) {
        if (accepted.ack().duplicate()) {
            // What it came to may lie in an earlier run.
            OutcomeDetector past = waiting.get();
            Timeline timeline = read(thread);
            for (Moment moment : timeline.moments()) {
                Optional<OutcomeDetector.Reached> reached = past.observe(moment);
                if (reached.isPresent() && isOver(reached.get(), attendant(thread))) {
                    save(timeline);
                    return resultOf(thread, reached.get());
                }
            }
        }
        return await(thread, accepted.runId(), waiting.get(), deadline);
    }

    private AgentResult await(String thread, String runId, OutcomeDetector waiting, WaitDeadline deadline) {
        MomentStream feed = feed(thread, runId);
        if (saving.isEmpty()) {
            return await(thread, feed, moments -> {}, waiting, deadline);
        }
        CheckpointWriter keeper = new CheckpointWriter(saving.get());
        CheckpointFeeder keeping =
                new CheckpointFeeder(thread, keeper, saving.get().cadence());
        try {
            return await(thread, feed, moments -> keeping.follow(moments, feed.run()), waiting, deadline);
        } finally {
            end(keeper);
        }
    }

    /** Before anybody is told of an outcome, it is saved, or it is said that it is not. */
    private void end(CheckpointWriter keeper) {
        SaveOptions where = saving.orElseThrow();
        for (String unsaved : keeper.flush(where.flushTimeout())) {
            where.listener().failed(SaverException.late(unsaved, where.flushTimeout()));
        }
        keeper.close();
    }

    /** Saves the newest version of a thread, and waits until it is saved. Does nothing without a saver. */
    public void save(String thread) {
        if (saving.isPresent()) {
            save(timeline(thread));
        }
    }

    private void save(Timeline timeline) {
        ThreadSnapshot.of(timeline).ifPresent(this::save);
    }

    private void save(ThreadSnapshot snapshot) {
        if (saving.isPresent()) {
            CheckpointWriter keeper = new CheckpointWriter(saving.get());
            keeper.offer(snapshot);
            end(keeper);
        }
    }

    private AgentResult await(
            String thread,
            MomentStream feed,
            Consumer<List<Moment>> follower,
            OutcomeDetector waiting,
            WaitDeadline deadline) {
        CallbackDispatcher attendant = attendant(thread);
        WaitPolicy patience = new WaitPolicy(requests, thread, deadline);
        while (!feed.isClosed()) {
            Optional<Conversation> newest = Optional.empty();
            Optional<OutcomeDetector.Reached> reached = Optional.empty();
            List<Moment> next = feed.next(patience.millis());
            follower.accept(next);
            for (Moment moment : next) {
                newest = Optional.of(moment.state());
                reached = waiting.observe(moment);
                if (reached.isPresent() && isOver(reached.get(), attendant)) {
                    return resultOf(thread, reached.get());
                }
            }
            if (feed.wasReset()) {
                // What was waited for may not have happened at all: the newest turn is as near as one can get.
                return result(thread, deadline);
            }
            // Only the newest state is shown to anybody: what was open in an earlier one may be decided by now.
            if (newest.filter(waiting::isOn).map(attendant::attend).orElse(false)) {
                // That may have taken as long as people take, and says nothing about workers.
                patience = new WaitPolicy(requests, thread, deadline);
                if (reached.isPresent() && isOver(reached.get(), attendant)) {
                    return resultOf(thread, reached.get());
                }
            } else {
                patience.check(feed);
            }
        }
        return endOf(thread, feed);
    }

    private CallbackDispatcher attendant(String thread) {
        return new CallbackDispatcher(callbacks, requests, thread);
    }

    /** A turn that waits for people is not over while these are on the caller's side. */
    private static boolean isOver(OutcomeDetector.Reached reached, CallbackDispatcher attendant) {
        return !reached.turn().isRunning() || !attendant.hasBusinessIn(reached.state());
    }

    private static AgentResult resultOf(String thread, OutcomeDetector.Reached reached) {
        return AgentResult.of(thread, reached.runId(), reached.state(), reached.turn());
    }

    private static AgentResult endOf(String thread, MomentStream closed) {
        Conversation state = closed.run().expectedState().orElseThrow(() -> Requests.noSuchThread(thread));
        return AgentResult.of(thread, closed.run().runId(), state, state.turn());
    }

    private MomentStream feed(String thread, String runId) {
        return new MomentStream(connection, histories, thread, runId);
    }

    // ---- failures

    private <T> T translated(Supplier<T> request) {
        try {
            return request.get();
        } catch (StatusRuntimeException e) {
            throw translate(e);
        } catch (WorkflowServiceException e) {
            for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
                if (cause instanceof StatusRuntimeException status) {
                    throw translate(status);
                }
            }
            throw e;
        }
    }

    private WaymarkException translate(StatusRuntimeException e) {
        String words = Optional.ofNullable(e.getStatus().getDescription()).orElse("no reason given");
        return switch (e.getStatus().getCode()) {
            case NOT_FOUND ->
                new WaymarkException.NotFound(
                        "the server has no such thing: " + words, "Check TEMPORAL_NAMESPACE and TEMPORAL_ADDRESS");
            case PERMISSION_DENIED, UNAUTHENTICATED ->
                unreachable("the server refuses this client: " + connection.address() + " (" + words + ")", e);
            case INVALID_ARGUMENT ->
                new WaymarkException.Refused(Problem.BAD_INPUT, "the server refused it: " + words, "");
            default ->
                unreachable(
                        "the server does not answer: " + connection.address() + " ("
                                + e.getStatus().getCode() + ", " + words + ")",
                        e);
        };
    }

    private static WaymarkException unreachable(String message, Throwable cause) {
        return new WaymarkException.ServerUnreachable(
                message, "Start one with: waymark dev, or set TEMPORAL_ADDRESS", cause);
    }

    @Override
    public void close() {
        connection.close();
    }
}
