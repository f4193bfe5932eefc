package dev.waymark.client;

import dev.waymark.checkpoint.CheckpointCorruption;
import dev.waymark.checkpoint.CheckpointReader;
import dev.waymark.checkpoint.RestoredCheckpoint;
import dev.waymark.client.check.RequestLimits;
import dev.waymark.client.connection.Requests;
import dev.waymark.client.connection.SuccessorRegistry;
import dev.waymark.client.connection.WaitDeadline;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.client.saving.ThreadSnapshot;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.contract.thread.ThreadStatus;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.saver.CheckpointOwner;
import dev.waymark.thread.ForkSource;
import dev.waymark.thread.ThreadOwner;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.Timeline;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Continues a conversation from a closed thread, a checkpoint, a saver, or any point of another thread. */
final class ThreadResumer {
    private final ClientContext context;
    private final NewThreads threads;
    private final OutcomeWaiter outcomes;
    private final OutcomeSaver saves;
    private final SuccessorRegistry successors;
    private final CheckpointLineage lineage;

    ThreadResumer(ClientContext context, NewThreads threads, OutcomeWaiter outcomes, OutcomeSaver saves) {
        this.context = context;
        this.threads = threads;
        this.outcomes = outcomes;
        this.saves = saves;
        this.successors = new SuccessorRegistry(context.connection(), context.histories(), context.requests());
        this.lineage = new CheckpointLineage(context.requests(), context.histories(), successors);
    }

    /**
     * Continues a closed thread in a new thread. Starts nothing if its turn is complete and the options contain neither
     * an answer nor a thread id.
     */
    TurnHandle resume(String thread, ResumeOptions how) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            ResumeSource left = left(thread);
            return left.isOver(checked(how))
                    ? notNeeded(outcomes.turn(thread, deadline))
                    : goOn(left, owned(how, thread), deadline);
        });
    }

    /** Gives the new thread the owner of the old one, unless the options name another owner. */
    private ResumeOptions owned(ResumeOptions how, String thread) {
        return how.owner().isPresent()
                ? how
                : how.ownedBy(context.startInput(thread).owner());
    }

    /** The thread that continues, and what to do once it has started. */
    private record Successor(String thread, Optional<String> copiedFrom, Runnable started) {
        /** Returns a successor without a marker: any number of threads may continue the same source. */
        static Successor freely(String thread, Optional<String> copiedFrom) {
            return new Successor(thread, copiedFrom, () -> {});
        }

        void begun() {
            started.run();
        }
    }

    private Successor successor(ResumeSource left, ResumeOptions how) {
        String thread = left.threadId(how);
        String requestId = left.requestId(how);
        boolean isNamed = how.thread().isPresent();
        if (isNamed) {
            threads.checkThatItLasts(thread, how.volatileAllowed());
        }
        if (left.continuation().isEmpty()) {
            return Successor.freely(thread, left.copiedFrom());
        }
        if (isNamed && threads.isHere(thread)) {
            factOfEarlier(context.read(thread), requestId);
        }
        SuccessorRegistry.Source source = left.continuation().get();
        SuccessorRegistry.Reservation taken = successors.take(source, thread, isNamed, requestId);
        if (context.requests().find(source.name()).filter(Requests.Known::open).isPresent()) {
            throw RequestLimits.badInput(
                    "the thread was reopened by a reset: " + source.name(), "Close it first, then resume it");
        }
        return new Successor(taken.thread(), left.copiedFrom(), () -> successors.begun(taken));
    }

    /** Returns what a caller can do with an open thread instead of resuming it. */
    private Remedy.Action howToGoOn(String thread) {
        Set<PendingItem.Kind> kinds = context.read(thread).now().pending(thread).stream()
                .map(PendingItem::kind)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(PendingItem.Kind.class)));
        if (kinds.contains(PendingItem.Kind.APPROVAL)) {
            return Remedy.Action.DECIDE;
        }
        if (kinds.contains(PendingItem.Kind.UNKNOWN)) {
            return Remedy.Action.LIST_PENDING;
        }
        return kinds.contains(PendingItem.Kind.QUESTION) ? Remedy.Action.ANSWER_OR_SAY : Remedy.Action.SAY_MORE;
    }

    private ResumeSource left(String thread) {
        Requests.Known known = context.get(RequestLimits.thread(thread));
        if (known.open()) {
            throw RequestLimits.badInput("the thread is still open: " + thread, Remedy.of(howToGoOn(thread), thread));
        }
        Timeline timeline = context.read(thread);
        if (timeline.now().turn().status() == Turn.Status.NONE) {
            throw new WaymarkException.NotFound(
                    "the thread had no turn: " + thread, Remedy.of(Remedy.Action.START_THREAD, thread));
        }
        return ResumeSource.of(timeline, context.histories().firstRunId(thread, timeline.runId()));
    }

    /**
     * Resumes a checkpoint. Starts nothing if its turn is complete and the options contain neither an answer nor a
     * thread id.
     */
    TurnHandle resume(byte[] checkpoint, ResumeOptions how) {
        WaitDeadline deadline = context.deadline();
        RestoredCheckpoint recovered = recovered(checkpoint, how);
        return context.translated(() -> {
            ResumeSource left = left(recovered, how);
            if (left.isOver(how)) {
                String thread = recovered.thread().orElseGet(() -> left.threadId(how));
                return notNeeded(outcomes.known(
                        thread,
                        "",
                        deadline,
                        () -> AgentResult.of(
                                thread, "", left.recorded(), left.state().turn())));
            }
            return goOn(related(left, recovered, how), how, deadline);
        });
    }

    private static TurnHandle notNeeded(TurnHandle turn) {
        return turn.with(TurnHandle.Delivery.NOT_NEEDED);
    }

    /**
     * Returns the calls of a checkpoint that somebody should look at before it is resumed. Starts nothing.
     *
     * @throws WaymarkException if the checkpoint cannot be resumed
     */
    CheckpointReview review(byte[] checkpoint, ResumeOptions how) {
        RestoredCheckpoint recovered = recovered(checkpoint, how);
        return context.translated(() -> {
            ResumeSource left = left(recovered, how);
            boolean isToBeCompared = !left.isOver(how) && !left.undecidedCalls().isEmpty();
            return CheckpointReview.of(recovered, isToBeCompared ? related(left, recovered, how) : left);
        });
    }

    /** Compares the checkpoint with the thread that it names, unless the options treat it as a copy. */
    private ResumeSource related(ResumeSource left, RestoredCheckpoint recovered, ResumeOptions how) {
        return how.copy() ? left.inSessionOfItsOwn() : lineage.checked(left, recovered.thread(), how);
    }

    private static ResumeSource left(RestoredCheckpoint recovered, ResumeOptions how) {
        if (recovered.state().turn().status() == Turn.Status.NONE
                && checked(how).answer().orElse("").isBlank()) {
            throw RequestLimits.badInput("the checkpoint has no messages", "Add a message with --answer");
        }
        return ResumeSource.of(recovered);
    }

    private static RestoredCheckpoint recovered(byte[] checkpoint, ResumeOptions how) {
        return recovered(
                () -> CheckpointReader.read(checkpoint, now()), how.origin().orElse(""));
    }

    private static RestoredCheckpoint recovered(Supplier<RestoredCheckpoint> reader, String place) {
        try {
            return reader.get();
        } catch (CheckpointCorruption e) {
            String what = place.isEmpty() ? e.getMessage() : place + " (" + e.getMessage() + ")";
            throw e.type().equals(ProblemType.TOO_LARGE)
                    ? new WaymarkException.TooLarge(
                            "the checkpoint is too large: " + what, Remedy.of(Remedy.Action.USE_ONE_VERSION))
                    : new WaymarkException.Refused(
                            e.type(),
                            "the checkpoint is corrupt: " + what,
                            "Nothing was started. Fix the file, or use an earlier one");
        }
    }

    /** Starts a new thread with the conversation of another one, which continues independently. */
    TurnHandle fork(String thread, ForkOptions how) {
        WaitDeadline deadline = context.deadline();
        return context.translated(() -> {
            Forking forking = forking(thread, how);
            Successor successor = Successor.freely(how.thread(), Optional.of(thread));
            String status = ThreadStatus.of(forking.begin()).status();
            return begin(successor, forking.input(), forking.begin(), forking.id(), deadline)
                    .with(new TurnHandle.ForkPoint(forking.at(), status));
        });
    }

    /** The initial state of a fork, its request id, and the event of the other thread that it copies. */
    private record Forking(String id, Conversation begin, StartInput input, String at) {}

    private Forking forking(String thread, ForkOptions how) {
        how.message().map(PersonFact.UserSpoke::of).ifPresent(RequestLimits::check);
        RequestLimits.thread(how.thread());
        threads.checkThatItLasts(how.thread(), how.volatileAllowed());
        context.get(RequestLimits.thread(thread));
        Timeline ancestor =
                how.place().map(place -> context.read(thread, place)).orElseGet(() -> context.read(thread));
        ResumeSource left = ResumeSource.of(ancestor);
        String id = ResumeSource.forkId(thread, context.histories().firstRunId(thread, ancestor.runId()), how);
        Conversation begin = left.fork(new ForkRequest(id, how.message(), how.untrusted()), now());
        Optional<ThreadOwner> owner =
                how.owner().or(() -> context.startInput(thread).owner());
        return new Forking(
                id,
                begin,
                left.input(Optional.empty(), begin)
                        .ownedBy(owner)
                        .forkedFrom(new ForkSource(
                                thread, ancestor.now().counters().versions(), Optional.of(ancestor.address()))),
                ancestor.address());
    }

    /**
     * Restores a thread that only the saver has. Returns empty if the server has the thread, if another client has
     * started to restore it, or if there is no saver or no entry in it.
     */
    Optional<ThreadEvent.Loaded> restored(String thread, ResumeOptions how) {
        if (context.saving().isEmpty()) {
            return Optional.empty();
        }
        if (threads.isHere(thread)) {
            SavedThread.checkThatNoOtherServerHas(context, thread);
            return Optional.empty();
        }
        SavedThread saved = new SavedThread(context, thread);
        Optional<Json> document = saved.load();
        if (document.isEmpty()) {
            return Optional.empty();
        }
        Optional<CheckpointOwner> owner = saved.owner();
        // The saver belongs to this installation, so the thread's calls are trusted.
        ResumeOptions named = checked(how.as(owner)).withThread(thread).withFileCalls(FileCalls.CONTINUE);
        byte[] checkpoint = document.get().canonical().getBytes(StandardCharsets.UTF_8);
        ResumeSource left =
                ResumeSource.of(recovered(() -> CheckpointReader.readSaved(checkpoint, now()), "of " + thread));
        lineage.checkRestore(left, thread, owner.map(CheckpointOwner::run));
        Conversation begin = left.begin(named, thread, now());
        // Another client may restore the thread at the same time, with the same result.
        Optional<String> runId = threads.start(
                thread, left.input(named.agent(), begin), left.copiedFrom(), left.requestId(named), context.deadline());
        if (runId.isEmpty()) {
            return Optional.empty();
        }
        saved.awaitAgent(runId.get());
        saved.takeOver(runId.get(), owner);
        ThreadEvent.Loaded loaded = ThreadEvent.Loaded.of(thread, beginning(runId.get(), begin));
        context.tell(loaded);
        return Optional.of(loaded);
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

    private TurnHandle goOn(ResumeSource left, ResumeOptions how, WaitDeadline deadline) {
        // Checks come first, since a refused request must not use up the only continuation.
        String wanted = left.threadId(how);
        Conversation asWanted = left.begin(how, wanted, now());
        StartInput packed = left.input(how.agent(), asWanted);
        Successor successor = successor(left, how);
        boolean isWanted = successor.thread().equals(wanted);
        Conversation begin = isWanted ? asWanted : left.begin(how, successor.thread(), now());
        StartInput input = (isWanted ? packed : left.input(how.agent(), begin)).ownedBy(how.owner());
        boolean anyAgent = left.state().agent().isEmpty() && how.agent().isEmpty();
        return begin(successor, input, begin, left.requestId(how), deadline)
                .checking(result -> checked(result, begin, anyAgent));
    }

    private AgentResult checked(AgentResult result, Conversation begin, boolean anyAgent) {
        if (anyAgent
                && result instanceof AgentResult.Failed failed
                && threads.refusedRun(result.thread()).isPresent()) {
            throw new WaymarkException.Refused(
                    failed.problem().orElseThrow().type(),
                    failed.problem().orElseThrow().message(),
                    Remedy.of(Remedy.Action.NAME_AGENT));
        }
        begin.waitingCalls().stream()
                .filter(call -> call.result().isPresent() && isToBeApproved(call.id(), result))
                .findFirst()
                .ifPresent(call -> {
                    throw new WaymarkException.NotFound(
                            "no question is open, but this call waits for a decision: " + call.id(),
                            Remedy.of(Remedy.Action.DECIDE, result.thread()));
                });
        return result;
    }

    private static boolean isToBeApproved(String callId, AgentResult result) {
        return result instanceof AgentResult.Interrupted interrupted
                && interrupted.pending().stream()
                        .anyMatch(item -> item.callId().equals(callId) && item.kind() == PendingItem.Kind.APPROVAL);
    }

    /**
     * Returns the number of the fact that an earlier attempt of this request recorded. Throws if another request
     * started the thread.
     */
    private static int factOfEarlier(Timeline timeline, String requestId) {
        return timeline.now()
                .seen()
                .factOf(requestId)
                .orElseThrow(() -> new WaymarkException.Refused(
                        ProblemType.KEY_REUSED,
                        "another request has started this thread: " + timeline.thread(),
                        Remedy.of(Remedy.Action.USE_ANOTHER_THREAD)));
    }

    /** Starts a thread with this state, unless this request started it before. */
    private TurnHandle begin(
            Successor successor, StartInput input, Conversation begin, String requestId, WaitDeadline deadline) {
        String thread = successor.thread();
        Optional<String> runId = threads.start(thread, input, successor.copiedFrom(), requestId, deadline);
        if (runId.isPresent()) {
            successor.begun();
            String run = runId.get();
            return begin.isSettled()
                    ? outcomes.known(thread, run, deadline, () -> settled(thread, run, begin))
                    : outcomes.handle(
                            thread,
                            run,
                            () -> OutcomeDetector.forTurnAt(begin.counters().facts()),
                            deadline);
        }
        Timeline timeline = context.read(thread);
        int fact = factOfEarlier(timeline, requestId);
        successor.begun();
        return outcomes.repeated(thread, timeline.runId(), () -> OutcomeDetector.forTurnAt(fact), deadline);
    }

    private AgentResult settled(String thread, String runId, Conversation begin) {
        Moment beginning = beginning(runId, begin);
        boolean saved = saves.save(new ThreadSnapshot(thread, beginning, Optional.empty(), Optional.empty(), runId));
        return OutcomeSaver.saved(AgentResult.of(thread, runId, begin, begin.turn()), saved);
    }
}
