package dev.waymark.client;

import dev.waymark.checkpoint.CheckpointCorruption;
import dev.waymark.checkpoint.CheckpointReader;
import dev.waymark.checkpoint.RestoredCheckpoint;
import dev.waymark.contract.PendingItem;
import dev.waymark.contract.StartInput;
import dev.waymark.contract.StatusReport;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.history.Moment;
import dev.waymark.history.Timeline;
import dev.waymark.saver.SaverException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Goes on from where a conversation was left: a closed thread, a checkpoint, a saver, any point of another thread. */
final class ThreadContinuation {
    private final ClientContext context;
    private final OutcomeWaiter outcomes;

    ThreadContinuation(ClientContext context, OutcomeWaiter outcomes) {
        this.context = context;
        this.outcomes = outcomes;
    }

    /**
     * Goes on, in a new thread, from where a closed one ended, however it ended. What is known of its side effects goes
     * with it: a call that may have taken effect is not simply run again. The same resumed twice, even at once, is one
     * thread.
     *
     * @return the outcome of the turn that goes on; of a thread that was complete, and is given no answer, its own
     */
    AgentResult resume(String thread, ResumeOptions how) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            ResumeSource left = left(thread);
            return left.isOver(checked(how)) ? outcomes.result(thread, deadline) : goOn(left, how, deadline);
        });
    }

    /** The same under a name of its own, without waiting for what comes of it. */
    AgentClient.Started resumeOnly(String thread, String successor, ResumeOptions how) {
        return context.translated(() -> {
            ResumeSource left = left(thread);
            ResumeOptions named = checked(how.withThread(successor));
            checkThatItLasts(successor, how.volatileAllowed());
            Conversation begin = left.begin(named, successor, now());
            Optional<String> runId = context.requests().start(successor, left.input(named.agent(), begin));
            if (runId.isEmpty()) {
                factOfEarlier(context.read(successor), left.requestId(named));
            }
            return new AgentClient.Started(
                    successor,
                    runId.orElseGet(() -> context.requests().get(successor).runId()));
        });
    }

    private ResumeSource left(String thread) {
        Requests.Known known = context.requests().get(RequestLimits.thread(thread));
        if (known.open()) {
            throw RequestLimits.badInput(
                    "the thread is still open: " + thread,
                    "Go on in it with: waymark answer " + ValueText.quoted(thread) + " TEXT, or waymark say");
        }
        Timeline timeline = context.read(thread);
        if (timeline.now().turn().status() == Turn.Status.NONE) {
            throw new WaymarkException.NotFound(
                    "the thread had no turn: " + thread, "Begin one with: waymark run --thread");
        }
        return ResumeSource.of(timeline);
    }

    /** The same. {@code place} is where the checkpoint was found, for people whom it is not what they took it for. */
    AgentResult resume(byte[] checkpoint, String place, ResumeOptions how) {
        WaitDeadline deadline = context.deadline();
        RestoredCheckpoint recovered = recovered(checkpoint, place);
        return context.translated(() -> {
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
                    : recovered.thread().flatMap(context.requests()::find);
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
    Optional<String> refusedRun(String thread) {
        return Optional.of(context.read(thread))
                .filter(timeline -> timeline.ending().isPresent())
                .filter(timeline -> hadNoAgent(timeline.now()))
                .map(Timeline::runId);
    }

    static boolean hadNoAgent(Conversation last) {
        return last.life() == Conversation.Life.CLOSING
                && last.agentRequested()
                && last.terms().isEmpty();
    }

    /**
     * Starts a thread, or returns empty when one of this id exists. Of several who make the same request at once for an
     * id that has become free, one starts it.
     */
    Optional<String> start(String thread, StartInput input, String requestId) {
        return context.requests()
                .start(thread, input)
                .or(() -> refusedRun(thread)
                        .flatMap(refused -> context.requests().startAnew(thread, input, requestId + "/" + refused)));
    }

    /**
     * Begins a new thread with what another one had come to, and says something there. It never repeats what the other
     * one has done by then, and the other one goes on without it. The same forked twice is one thread.
     */
    AgentResult fork(String thread, ForkOptions how) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Forking forking = forking(thread, how);
            return begin(how.thread(), forking.input(), forking.begin(), forking.id(), deadline);
        });
    }

    /** The same without a word: nothing runs in the new thread until something is said or answered there. */
    AgentClient.Forked forkOnly(String thread, ForkOptions how) {
        return context.translated(() -> {
            Forking forking = forking(thread, how);
            Optional<String> runId = start(how.thread(), forking.input(), forking.id());
            if (runId.isEmpty()) {
                factOfEarlier(context.read(how.thread()), forking.id());
            }
            String run =
                    runId.orElseGet(() -> context.requests().get(how.thread()).runId());
            outcomes.save(how.thread());
            return new AgentClient.Forked(
                    StatusReport.of(forking.begin()).status(), new AgentClient.Started(how.thread(), run));
        });
    }

    /** A state to begin with, and the request that it is made for. */
    private record Forking(String id, Conversation begin, StartInput input) {}

    private Forking forking(String thread, ForkOptions how) {
        how.message().ifPresent(RequestLimits::message);
        RequestLimits.thread(how.thread());
        checkThatItLasts(how.thread(), how.volatileAllowed());
        context.requests().get(RequestLimits.thread(thread));
        Timeline ancestor =
                how.place().map(place -> context.read(thread, place)).orElseGet(() -> context.read(thread));
        ResumeSource left = ResumeSource.of(ancestor);
        String id = left.forkId(how, ancestor.lastEventId());
        Conversation begin = new ForkRequest(id, how.message()).of(ancestor.now(), now());
        return new Forking(id, begin, left.input(Optional.empty(), begin));
    }

    Optional<CheckpointLoaded> restored(String thread, ResumeOptions how) {
        if (context.saving().isEmpty() || context.requests().find(thread).isPresent()) {
            return Optional.empty();
        }
        Optional<Json> saved = load(context.saving().get(), thread);
        if (saved.isEmpty()) {
            return Optional.empty();
        }
        byte[] checkpoint = saved.get().canonical().getBytes(StandardCharsets.UTF_8);
        ResumeSource left = ResumeSource.of(recovered(checkpoint, "of " + thread));
        Conversation begin = left.begin(checked(how).withThread(thread), thread, now());
        // Somebody else may bring it back in this moment: what they bring is the same.
        Optional<CheckpointLoaded> loaded = context.requests()
                .start(thread, left.input(how.agent(), begin))
                .map(runId -> CheckpointLoaded.of(thread, beginning(runId, begin)));
        loaded.ifPresent(context.saving().get().listener()::loaded);
        return loaded;
    }

    static Optional<Json> load(SaveOptions saving, String thread) {
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
            outcomes.save(
                    new ThreadSnapshot(thread, beginning(runId.get(), begin), Optional.empty(), Optional.empty()));
            return AgentResult.of(thread, runId.get(), begin, begin.turn());
        }
        if (runId.isPresent()) {
            return outcomes.await(
                    thread,
                    runId.get(),
                    OutcomeDetector.forTurnAt(begin.counters().facts()),
                    deadline);
        }
        Timeline timeline = context.read(thread);
        int fact = factOfEarlier(timeline, requestId);
        OutcomeDetector past = OutcomeDetector.forTurnAt(fact);
        for (Moment moment : timeline.moments()) {
            Optional<OutcomeDetector.Reached> reached = past.observe(moment);
            if (reached.isPresent()) {
                outcomes.save(timeline);
                return OutcomeWaiter.resultOf(thread, reached.get());
            }
        }
        return outcomes.await(thread, timeline.runId(), OutcomeDetector.forTurnAt(fact), deadline);
    }

    /**
     * Checks that a new thread of this name would outlive the server, or may be gone with it.
     *
     * @throws WaymarkException.VolatileStore when the server keeps everything in memory, and nothing is saved
     */
    void checkThatItLasts(String thread, boolean volatileAllowed) {
        if (context.connection().isInMemory()
                && !volatileAllowed
                && context.saving().isEmpty()) {
            throw new WaymarkException.VolatileStore(
                    "the server keeps threads in memory only: " + thread,
                    "It would be gone with the server. Save it with --saver file:DIR, use --volatile to start it"
                            + " nevertheless, or a server that keeps what it is given");
        }
    }
}
