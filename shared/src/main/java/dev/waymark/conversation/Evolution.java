package dev.waymark.conversation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One step of the fold: a scratch copy of the state, one case per fact, and what follows from each at once.
 *
 * <p>Everything that follows without the outside world having a say happens here and not by steps: turns end and open,
 * versions are counted. So a reader of history needs nothing but the facts.
 */
final class Evolution implements Fact.Cases<Void> {
    private final Instant at;

    private int rules;
    private String agent;
    private boolean once;
    private Optional<Integer> maxIterations;
    private boolean agentRequested;
    private Optional<Terms> terms;
    private Conversation.Life life;
    private boolean full;
    private Transcript transcript;
    private List<Queued> queue;
    private Turn turn;
    private Optional<Turn> ended;
    private boolean modelCalled;
    private List<String> batch;
    private Index<Call> calls;
    private Usage usage;
    private Seen seen;
    private Ignored ignored;
    private int facts;
    private int steps;
    private int versions;
    private int messages;
    private Instant createdAt;

    private boolean versionReached;

    private Evolution(Conversation from, Instant at) {
        this.at = at;
        this.rules = from.rules();
        this.agent = from.agent();
        this.once = from.once();
        this.maxIterations = from.maxIterations();
        this.agentRequested = from.agentRequested();
        this.terms = from.terms();
        this.life = from.life();
        this.full = from.full();
        this.transcript = from.transcript();
        this.queue = from.queue();
        this.turn = from.turn();
        this.ended = from.ended();
        this.modelCalled = from.modelCalled();
        this.batch = from.batch();
        this.calls = from.calls();
        this.usage = from.usage();
        this.seen = from.seen();
        this.ignored = from.ignored();
        this.facts = from.counters().facts();
        this.steps = from.counters().steps();
        this.versions = from.counters().versions();
        this.messages = from.counters().messages();
        this.createdAt = from.createdAt();
    }

    static Evolution of(Conversation from, Instant at) {
        return new Evolution(from, at);
    }

    static Conversation start(Fact.RunStarted fact, Instant at) {
        Conversation blank = new Conversation(
                fact.rules(),
                fact.agent(),
                fact.once(),
                fact.maxIterations(),
                false,
                Optional.empty(),
                Conversation.Life.OPEN,
                false,
                Transcript.EMPTY,
                List.of(),
                Turn.none(at),
                Optional.empty(),
                false,
                List.of(),
                Index.empty(),
                Usage.NONE,
                Seen.NOTHING,
                Ignored.NOTHING,
                Counters.ZERO,
                at,
                at);
        return of(blank, at).apply(fact);
    }

    Conversation apply(Fact fact) {
        boolean wasInterrupted = isInterrupted();
        facts++;
        Optional<Problem> refusal =
                fact instanceof Fact.Inbound inbound ? Admission.refusal(freeze(), inbound) : Optional.empty();
        if (refusal.isPresent()) {
            ignore(((Fact.Inbound) fact).signal(), refusal.get().message());
        } else {
            remember(fact);
            fact.match(this);
            settle();
        }
        if (versionReached || (isInterrupted() && !wasInterrupted)) {
            versions++;
        }
        return freeze();
    }

    private Conversation freeze() {
        return new Conversation(
                rules,
                agent,
                once,
                maxIterations,
                agentRequested,
                terms,
                life,
                full,
                transcript,
                queue,
                turn,
                ended,
                modelCalled,
                batch,
                calls,
                usage,
                seen,
                ignored,
                new Counters(facts, steps, versions, messages),
                createdAt,
                at);
    }

    private void remember(Fact fact) {
        if (fact instanceof Fact.Inbound inbound) {
            inbound.messageId().ifPresent(id -> seen = seen.with(id, facts));
        }
    }

    /** What follows at once: a turn at its limit ends, and what is queued when a turn completes opens the next. */
    private void settle() {
        boolean modelIsDue = turn.isRunning()
                && terms.isPresent()
                && !modelCalled
                && openCalls().isEmpty();
        if (modelIsDue && turn.iterations() >= iterationLimit()) {
            String words = "the limit of " + iterationLimit() + " iterations is reached";
            endTurn(Turn.Status.MAX_ITERATIONS, "", new Problem("MaxIterations", words));
        }
        if (turn.status() == Turn.Status.COMPLETE && !queue.isEmpty()) {
            openTurn();
        }
    }

    // ---- beginnings

    @Override
    public @Nullable Void runStarted(Fact.RunStarted fact) {
        return null;
    }

    @Override
    public @Nullable Void agentRequested(Fact.AgentRequested fact) {
        agentRequested = true;
        return null;
    }

    @Override
    public @Nullable Void agentResolved(Fact.AgentResolved fact) {
        terms = Optional.of(fact.terms());
        return null;
    }

    @Override
    public @Nullable Void agentRefused(Fact.AgentRefused fact) {
        if (life == Conversation.Life.CANCELLED) {
            return null; // The cancellation did this, and is the outcome already.
        }
        if (!turn.isRunning()) {
            openTurn();
        }
        endTurn(Turn.Status.FAILED, "", fact.problem());
        if (life == Conversation.Life.OPEN) {
            life = Conversation.Life.CLOSING;
        }
        return null;
    }

    // ---- the model

    @Override
    public @Nullable Void modelCalled(Fact.ModelCalled fact) {
        commitResults();
        for (Queued queued : queue) {
            say(queued.id(), queued.message());
        }
        queue = List.of();
        turn = turn.iterated();
        steps = fact.step();
        modelCalled = true;
        return null;
    }

    @Override
    public @Nullable Void modelReplied(Fact.ModelReplied fact) {
        if (!isCurrent(fact.step())) {
            return null;
        }
        modelCalled = false;
        turn = turn.used(fact.reply().usage());
        usage = usage.plus(fact.reply().usage());
        Message message =
                new Message(Role.ASSISTANT, withUnusedCallIds(fact.reply().content()));
        if (!message.content().isEmpty()) {
            say(Optional.empty(), message);
        }
        if (message.toolUses().isEmpty()) {
            endTurn(Turn.Status.COMPLETE, message.text(), null);
        } else {
            issue(message.toolUses());
        }
        return null;
    }

    @Override
    public @Nullable Void modelFailed(Fact.ModelFailed fact) {
        if (isCurrent(fact.step())) {
            modelCalled = false;
            endTurn(Turn.Status.FAILED, "", fact.problem());
        }
        return null;
    }

    /** A reply that comes after its turn was stopped belongs to nobody. */
    private boolean isCurrent(int step) {
        return modelCalled && turn.isRunning() && steps == step;
    }

    /** Models repeat the ids of their calls. One used before in this thread gets a suffix, and that is its only id. */
    private List<Part> withUnusedCallIds(List<Part> content) {
        List<Part> parts = new ArrayList<>(content.size());
        Set<String> inThisReply = new LinkedHashSet<>();
        // Where to go on for an id that is repeated over and over: to begin at 2 each time takes minutes in the end.
        Map<String, Integer> suffixes = new LinkedHashMap<>();
        for (Part part : content) {
            if (part instanceof Part.ToolUse use) {
                String wanted = use.id().isEmpty() ? "call" : use.id();
                String id = wanted;
                int n = suffixes.getOrDefault(wanted, 2);
                while (calls.contains(id) || inThisReply.contains(id)) {
                    id = wanted + "~" + n;
                    n++;
                }
                suffixes.put(wanted, n);
                inThisReply.add(id);
                parts.add(use.withId(id));
            } else {
                parts.add(part);
            }
        }
        return parts;
    }

    // ---- tools

    private void issue(List<Part.ToolUse> uses) {
        batch = uses.stream().map(Part.ToolUse::id).toList();
        int issued = 0;
        for (Part.ToolUse use : uses) {
            issued++;
            Call call = Call.issued(use, turn.number(), at);
            Terms.ToolKind kind = terms.orElseThrow().tools().get(use.name());
            if (kind == null) {
                call = call.ended(Call.Status.FAILED, ToolTexts.notFound(use.name(), terms.get()), at);
            } else if (issued > Conversation.MAX_CALLS) {
                call = call.ended(Call.Status.FAILED, ToolTexts.tooMany(), at);
            } else if (use.input().canonical().length() > Conversation.MAX_ARGS_LENGTH) {
                call = call.ended(Call.Status.FAILED, ToolTexts.invalidInput(use.name(), "too large"), at);
            } else if (kind == Terms.ToolKind.QUESTION) {
                call = ask(call);
            }
            put(call);
        }
        reachVersionWhenBatchIsDone();
    }

    private Call ask(Call call) {
        return call.args().field("question") instanceof String question
                ? call.asking(question, at)
                : call.ended(
                        Call.Status.FAILED,
                        ToolTexts.invalidInput(call.tool(), "\"question\" is required and must be a string"),
                        at);
    }

    @Override
    public @Nullable Void toolDispatched(Fact.ToolDispatched fact) {
        calls.get(fact.callId())
                .filter(call -> call.status() == Call.Status.ISSUED)
                .ifPresent(call -> put(call.dispatched(fact.dispatch(), at)));
        return null;
    }

    @Override
    public @Nullable Void toolFinished(Fact.ToolFinished fact) {
        Call.Status status = fact.isError() ? Call.Status.FAILED : Call.Status.COMPLETED;
        running(fact.callId(), fact.dispatch()).ifPresent(call -> end(call, status, fact.content()));
        return null;
    }

    @Override
    public @Nullable Void toolInterrupted(Fact.ToolInterrupted fact) {
        running(fact.callId(), fact.dispatch()).ifPresent(call -> put(call.asking(fact.question(), at)));
        return null;
    }

    @Override
    public @Nullable Void toolLost(Fact.ToolLost fact) {
        running(fact.callId(), fact.dispatch())
                .ifPresent(call -> end(
                        call,
                        Call.Status.FAILED,
                        ToolTexts.failure(fact.problem().message())));
        return null;
    }

    /** The call, if this dispatch of it is the one that is awaited. */
    private Optional<Call> running(String callId, int dispatch) {
        return calls.get(callId)
                .filter(call -> call.status() == Call.Status.DISPATCHED && call.dispatches() == dispatch);
    }

    private void end(Call call, Call.Status status, String text) {
        put(call.ended(status, text, at));
        reachVersionWhenBatchIsDone();
    }

    private void reachVersionWhenBatchIsDone() {
        versionReached |= openCalls().isEmpty();
    }

    private void cancelOpenCalls(String text) {
        for (Call call : openCalls()) {
            put(call.ended(Call.Status.CANCELLED, text, at));
        }
    }

    // ---- people

    @Override
    public @Nullable Void userSpoke(Fact.UserSpoke fact) {
        fact.replacement().ifPresent(replacement -> {
            forget("the conversation was replaced");
            replacement.forEach(message -> {
                say(Optional.empty(), message);
                recordForeignCalls(message);
            });
        });
        fact.content().ifPresent(content -> {
            List<Queued> longer = new ArrayList<>(queue);
            longer.add(new Queued(fact.id(), content, at));
            queue = longer;
        });
        if (!turn.isRunning() && !isBlank()) {
            openTurn();
        }
        return null;
    }

    /** Calls of a conversation that came from elsewhere: their ids are taken. What is known of our own stays. */
    private void recordForeignCalls(Message message) {
        for (Part.ToolUse use : message.toolUses()) {
            if (!calls.contains(use.id())) {
                put(Call.issued(use, turn.number(), at)
                        .ended(Call.Status.COMPLETED, "", at)
                        .committed());
            }
        }
    }

    @Override
    public @Nullable Void humanAnswered(Fact.HumanAnswered fact) {
        Optional<Call> asked = freeze().questions().stream()
                .filter(call -> fact.callId().map(call.id()::equals).orElse(true))
                .findFirst();
        asked.ifPresent(call -> end(call, Call.Status.COMPLETED, fact.answer()));
        return null;
    }

    /** Admission lets none through: no tool of these rules waits for a decision. */
    @Override
    public @Nullable Void approvalDecided(Fact.ApprovalDecided fact) {
        return null;
    }

    @Override
    public @Nullable Void budgetRaised(Fact.BudgetRaised fact) {
        maxIterations = fact.iterations();
        boolean open = life == Conversation.Life.OPEN;
        if (turn.status() == Turn.Status.MAX_ITERATIONS && open && !isBlank()) {
            turn = turn.continued();
        }
        return null;
    }

    @Override
    public @Nullable Void stopped(Fact.Stopped fact) {
        stop(Turn.Status.STOPPED, "Cancelled by " + fact.by().orElse("user") + ".");
        return null;
    }

    @Override
    public @Nullable Void cleared(Fact.Cleared fact) {
        forget("Cancelled by " + fact.by().orElse("user") + ".");
        return null;
    }

    @Override
    public @Nullable Void closeRequested(Fact.CloseRequested fact) {
        life = Conversation.Life.CLOSING;
        return null;
    }

    @Override
    public @Nullable Void cancelRequested(Fact.CancelRequested fact) {
        stop(Turn.Status.CANCELLED, "Cancelled with its thread.");
        life = Conversation.Life.CANCELLED;
        return null;
    }

    @Override
    public @Nullable Void messageIgnored(Fact.MessageIgnored fact) {
        ignore(fact.signal(), fact.problem().message());
        return null;
    }

    @Override
    public @Nullable Void limitReached(Fact.LimitReached fact) {
        full = true;
        if (turn.isRunning()) {
            cancelOpenCalls("Cancelled: " + fact.problem().message());
            endTurn(Turn.Status.FAILED, "", fact.problem());
        }
        return null;
    }

    private void ignore(String signal, String reason) {
        ignored = ignored.plus(new Ignored.Item(signal, reason, at));
    }

    private void stop(Turn.Status how, String text) {
        if (turn.isRunning()) {
            cancelOpenCalls(text);
            endTurn(how, "", new Problem(how == Turn.Status.STOPPED ? "Stopped" : "Cancelled", text));
        }
    }

    private void forget(String text) {
        stop(Turn.Status.STOPPED, text);
        batch = List.of();
        queue = List.of();
        transcript = Transcript.EMPTY;
        // What was said lives on in the calls' arguments, and a full thread would stay full.
        Index<Call> kept = calls;
        kept.forEach((id, call) -> put(call.forgotten()));
        full = false;
        versionReached = true;
    }

    // ---- turns and the transcript

    private void openTurn() {
        turn = turn.next(at);
    }

    private void endTurn(Turn.Status how, String words, @Nullable Problem why) {
        modelCalled = false;
        turn = turn.ended(how, words, Optional.ofNullable(why));
        ended = Optional.of(turn);
        versionReached = true;
    }

    private void commitResults() {
        List<Part.ToolResult> results = new ArrayList<>();
        for (String id : batch) {
            Call call = calls.get(id).orElseThrow();
            call.toolResult().ifPresent(results::add);
            put(call.committed());
        }
        if (!results.isEmpty()) {
            say(Optional.empty(), Message.results(results));
        }
        batch = List.of();
    }

    private void say(Optional<String> source, Message message) {
        messages++;
        transcript = transcript.plus(new Transcript.Entry("m" + messages, at, source, message));
    }

    private void put(Call call) {
        calls = calls.with(call.id(), call);
    }

    private List<Call> openCalls() {
        return batch.stream()
                .map(id -> calls.get(id).orElseThrow())
                .filter(Call::isOpen)
                .toList();
    }

    private boolean isInterrupted() {
        return turn.isRunning() && Call.onlyAsk(openCalls());
    }

    /** A model can't be asked about nothing, as after a clear. */
    private boolean isBlank() {
        return transcript.isEmpty() && queue.isEmpty();
    }

    private int iterationLimit() {
        return maxIterations.orElseGet(() -> terms.orElseThrow().maxIterations());
    }
}
