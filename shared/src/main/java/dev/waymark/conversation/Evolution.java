package dev.waymark.conversation;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One step of the fold: a scratch copy of the state, one case per fact, and what follows from each at once.
 *
 * <p>Everything that follows without the outside world having a say happens here and not by steps: turns end and open,
 * versions are counted. So a reader of history needs nothing but the facts.
 */
final class Evolution implements Fact.Cases<Void> {
    /** In what is passed on to a thread below, the call that it goes by. Nobody there minds. */
    private static final String VIA = "via";

    private static final String ASKED_TWICE = "the reply does not fit the schema, asked twice: ";

    private final Instant at;

    private int rules;
    private String agent;
    private boolean once;
    private Optional<Integer> maxIterations;
    private boolean agentRequested;
    private Optional<AgentPolicy> terms;
    private Conversation.Life life;
    private boolean full;
    private Transcript transcript;
    private List<Queued> queue;
    private Turn turn;
    private Optional<Turn> ended;
    private boolean modelCalled;
    private List<String> batch;
    private PersistentMap<Call> calls;
    private EffectLog effects;
    private Workspace workspace;
    private Usage usage;
    private SeenIds seen;
    private IgnoredSignals ignored;
    private int facts;
    private int steps;
    private int versions;
    private int messages;
    private Instant createdAt;
    private Optional<Origin> origin;
    private Optional<Parent> parent;
    private Optional<SubagentProgress> reported;
    private Optional<Usd> cost;
    private Optional<Budget> budget;
    private Optional<Json> context;
    private Optional<TokenEstimate> gauge;

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
        this.effects = from.effects().orElse(EffectLog.NONE);
        this.workspace = from.desk();
        this.usage = from.usage();
        this.seen = from.seen();
        this.ignored = from.ignored();
        this.facts = from.counters().facts();
        this.steps = from.counters().steps();
        this.versions = from.counters().versions();
        this.messages = from.counters().messages();
        this.createdAt = from.createdAt();
        this.origin = from.origin();
        this.parent = from.parent();
        this.reported = from.reported();
        this.cost = from.cost();
        this.budget = from.budget();
        this.context = from.context();
        this.gauge = from.gauge();
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
                PersistentMap.empty(),
                Optional.empty(),
                Optional.empty(),
                Usage.NONE,
                SeenIds.NOTHING,
                IgnoredSignals.NOTHING,
                Counters.ZERO,
                at,
                at,
                Optional.empty(),
                fact.parent(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                fact.context(),
                Optional.empty());
        return of(blank, at).apply(fact);
    }

    /** Begins a thread with the state of one that is over. */
    Conversation resume(Resumption how, Instant updatedAt) {
        boolean wasInterrupted = state().isInterrupted();
        life = Conversation.Life.OPEN;
        parent = Optional.empty();
        reported = Optional.empty();
        once = how.once();
        maxIterations = how.maxIterations().or(() -> maxIterations);
        Optional<Json> extras = origin.flatMap(Origin::extras);
        origin = how.session().isEmpty() && extras.isEmpty()
                ? Optional.empty()
                : Optional.of(new Origin(how.session(), extras));
        facts++;
        seen = seen.with(how.id(), facts);
        how.agent().ifPresent(named -> agent = named);
        if (how.agent().isPresent() || terms.isEmpty()) {
            terms = Optional.empty();
            agentRequested = false;
        }
        takeBackModelCall();
        how.answer().ifPresent(this::answerOrSay);
        if (!state().openCalls().isEmpty() || (turn.mayGoOn() && !state().isBlank())) {
            turn = turn.continued();
        }
        takeUpOpenCalls();
        settle();
        if (versionReached || (state().isInterrupted() && !wasInterrupted)) {
            versions++;
        }
        // Nothing is new because somebody goes on from there.
        return how.answer().isPresent() ? state() : state(updatedAt);
    }

    /** Begins a thread with the state of another one, which goes on without it. */
    Conversation fork(ForkRequest how) {
        life = Conversation.Life.OPEN;
        parent = Optional.empty();
        reported = Optional.empty();
        once = false;
        facts++;
        seen = seen.with(how.id(), facts);
        origin = origin.flatMap(Origin::extras).map(extras -> new Origin(Optional.empty(), Optional.of(extras)));
        agentRequested = terms.isPresent();
        inherit();
        takeBackModelCall();
        for (Call call : state().openCalls()) {
            if (careOf(call).effect() || call.status() == Call.Status.DELEGATED) {
                giveUp(call);
            }
        }
        if (how.message().isPresent() || !state().isInterrupted()) {
            stop(Turn.Status.STOPPED, "Cancelled: the conversation was forked here.");
        }
        how.message().ifPresent(this::answerOrSay);
        settle();
        versions++;
        return state();
    }

    /** Nothing will be heard of it here. */
    private void takeBackModelCall() {
        if (modelCalled) {
            if (state().isSummarising()) {
                gauge = Optional.of(gauge().notSummarising()); // Its step is the next one's again, whatever that is.
            } else {
                turn = turn.uniterated();
            }
            modelCalled = false;
            steps--;
        }
    }

    /** What was done is done for the fork too, and what was done and forgotten may have been anything. */
    private void inherit() {
        Map<String, String> results = new LinkedHashMap<>();
        transcript
                .messages()
                .forEach(message ->
                        message.toolResults().forEach(result -> results.put(result.toolUseId(), result.content())));
        effects = effects.inherited();
        calls.forEach((id, call) -> {
            if (call.status() == Call.Status.COMPLETED && careOf(call).effect()) {
                EffectLog.Effect effect = effects.of(effectKey(call));
                Optional<String> result = call.result().or(() -> Optional.ofNullable(results.get(id)));
                Call.Claim claim = new Call.Claim("before the fork", call.since());
                effects = effects.with(
                        effectKey(call),
                        effect.success().isPresent()
                                ? effect
                                : result.map(text -> effect.inheriting(id, text))
                                        .orElseGet(() -> effect.remembering(new EffectLog.Remembered(id, 0, claim))));
            }
        });
    }

    private void answerOrSay(String words) {
        Optional<Call> question = state().openCalls().stream()
                .filter(call -> call.status() == Call.Status.ASKING)
                .findFirst();
        if (question.isPresent() && terms.isEmpty() && question.get().asksNothing()) {
            // It may be an approval that is waited for. The agent's tools will tell.
            put(question.get().answeredEarly(words));
        } else if (question.isPresent()) {
            end(question.get(), Call.Status.COMPLETED, words);
        } else if (!words.isBlank()) {
            userSpoke(new Fact.UserSpoke(Optional.empty(), Optional.empty(), Optional.of(Message.user(words)), false));
        }
    }

    /** Once it is known what has to be minded, calls that a thread brought from elsewhere find their place. */
    private void takeUpOpenCalls() {
        if (terms.isPresent()) {
            List<Call> open = state().openCalls();
            open.forEach(this::takeUp);
            versionReached |= !open.isEmpty() && state().openCalls().isEmpty();
        }
    }

    /**
     * Whatever ran elsewhere is not awaited here. Of calls from a file it is not known whether they were claimed, only
     * that they have no result; of those in a conversation that waited for people, that they do so too.
     */
    private void takeUp(Call call) {
        Optional<AgentPolicy.ToolKind> kind =
                Optional.ofNullable(terms.orElseThrow().tools().get(call.tool()));
        boolean mayHaveRun = call.wasBegun();
        boolean decidable = careOf(call).approval() && call.approval().isEmpty();
        if (call.status() == Call.Status.ASKING) {
            Optional<String> answer = call.result();
            if (decidable && call.asksNothing() && call.claim().isEmpty()) {
                answer.ifPresent(
                        text -> ignore("answer", "the call waits for a decision, which no answer is: " + call.id()));
                askForApproval(call.withoutResult());
            } else if (answer.isPresent()) {
                end(call, Call.Status.COMPLETED, answer.get());
            }
        } else if (kind.isEmpty() && !mayHaveRun) {
            fail(call, ToolTexts.notFound(call.tool(), terms.get()));
        } else if (kind.isEmpty()) {
            giveUp(call);
        } else if (mayHaveRun && kind.get() == AgentPolicy.ToolKind.SUBAGENT) {
            giveUp(call); // What its thread did is not known here, and a second thread would do it again.
        } else if (mayHaveRun && !careOf(call).effect()) {
            advance(call.issued(Optional.empty(), at));
        } else if (call.status() == Call.Status.UNSETTLED && call.claim().isEmpty()) {
            if (decidable) {
                askForApproval(call);
            } else {
                leaveUndecided(call);
            }
        } else if (mayHaveRun && call.status() != Call.Status.UNSETTLED) {
            doubt(call);
        } else if (call.status() == Call.Status.DISPATCHED) {
            put(call.issued(Optional.empty(), at));
        } else if (call.status() == Call.Status.ISSUED
                && call.dispatches() == 0
                && call.wakeAt().isEmpty()) {
            bringOn(call);
        }
    }

    Conversation apply(Fact fact) {
        boolean wasInterrupted = state().isInterrupted();
        facts++;
        Optional<Problem> refusal =
                fact instanceof Fact.Inbound inbound ? Admission.refusal(state(), inbound) : Optional.empty();
        if (refusal.isPresent()) {
            ignore(((Fact.Inbound) fact).signal(), refusal.get().message());
        } else {
            remember(fact);
            fact.match(this);
            settle();
        }
        if (versionReached || (state().isInterrupted() && !wasInterrupted)) {
            versions++;
        }
        return state();
    }

    /** What it has come to so far. */
    private Conversation state() {
        return state(at);
    }

    private Conversation state(Instant updatedAt) {
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
                effects.isEmpty() ? Optional.empty() : Optional.of(effects),
                workspace.isEmpty() ? Optional.empty() : Optional.of(workspace),
                usage,
                seen,
                ignored,
                new Counters(facts, steps, versions, messages),
                createdAt,
                updatedAt,
                origin,
                parent,
                reported,
                cost,
                budget,
                context,
                gauge);
    }

    private void remember(Fact fact) {
        if (fact instanceof Fact.Inbound inbound) {
            inbound.messageId().ifPresent(id -> seen = seen.with(id, facts));
        }
    }

    /**
     * What follows at once: a call that was held comes on when the one before it has ended, what is queued when a turn
     * completes opens the next, and a turn at its limit ends.
     */
    private void settle() {
        releaseHeldCalls();
        if (turn.status() == Turn.Status.COMPLETE && !queue.isEmpty()) {
            openTurn();
        }
        Conversation now = state();
        boolean modelIsDue = turn.isRunning()
                && terms.isPresent()
                && !modelCalled
                && now.openCalls().isEmpty();
        if (modelIsDue && turn.iterations() >= now.iterationLimit().orElseThrow()) {
            String words = "the limit of " + now.iterationLimit().orElseThrow() + " iterations is reached";
            endTurn(Turn.Status.MAX_ITERATIONS, "", new Problem("MaxIterations", words));
        } else if (modelIsDue) {
            now.limits().overdrawn(now.spent()).ifPresent(why -> endTurn(Turn.Status.BUDGET, "", why));
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
        context = fact.terms().context().map(own -> own.overlaidBy(context)).or(() -> context);
        if (agent.isEmpty()) {
            agent = fact.terms().agent();
        }
        // A checkpoint does not say which tools have side effects.
        effects = effects.of(tool -> fact.terms().careOf(tool).effect());
        takeUpOpenCalls();
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
        callModel(fact.step());
        turn = turn.iterated();
        return null;
    }

    private void callModel(int step) {
        commitResults();
        for (Queued queued : queue) {
            say(queued.id(), queued.message());
            queued.schema().ifPresent(schema -> turn = turn.wanting(schema));
        }
        queue = List.of();
        steps = step;
        modelCalled = true;
    }

    @Override
    public @Nullable Void modelReplied(Fact.ModelReplied fact) {
        if (!isCurrent(fact.step())) {
            if (fact.reply().cost().isPresent()) { // In older histories nothing comes of a late reply.
                spend(fact.reply().spent());
            }
            return null;
        }
        modelCalled = false;
        turn = turn.used(fact.reply().spent().usage());
        spend(fact.reply().spent());
        Message message =
                new Message(Role.ASSISTANT, withUnusedCallIds(fact.reply().content()));
        if (!message.content().isEmpty()) {
            say(Optional.empty(), message);
        }
        if (terms.flatMap(AgentPolicy::summaries).isPresent()) {
            gauge = Optional.of(gauge().read(fact.reply().usage(), messages));
        }
        if (message.toolUses().isEmpty()) {
            lastWord(message.text(), fact.reply());
        } else {
            issue(message.toolUses(), fact.reply().faults());
        }
        return null;
    }

    private void lastWord(String words, Reply reply) {
        Optional<String> misfit = turn.schema().flatMap(schema -> reply.misfit());
        if (misfit.isEmpty()) {
            turn = turn.structured(reply.structured());
            endTurn(Turn.Status.COMPLETE, words, null);
        } else if (turn.repaired()) {
            endTurn(Turn.Status.FAILED, "", new Problem(Problem.SCHEMA_MISMATCH, ASKED_TWICE + misfit.get()));
        } else {
            turn = turn.repairing();
            say(Optional.empty(), Message.user(ToolTexts.misfit(misfit.get())));
            versionReached = true;
        }
    }

    @Override
    public @Nullable Void modelFailed(Fact.ModelFailed fact) {
        spend(fact.spent());
        if (isCurrent(fact.step())) {
            modelCalled = false;
            turn = turn.used(fact.spent().usage());
            endTurn(Turn.Status.FAILED, "", fact.problem());
        }
        return null;
    }

    @Override
    public @Nullable Void summaryRequested(Fact.SummaryRequested fact) {
        callModel(fact.step());
        gauge = Optional.of(gauge().summarising(fact.step()));
        return null;
    }

    @Override
    public @Nullable Void summarised(Fact.Summarised fact) {
        boolean current = isCurrent(fact.step());
        summaryCame(fact.step(), fact.reply().spent());
        String words =
                new Message(Role.ASSISTANT, fact.reply().content()).text().strip();
        if (current && !words.isEmpty()) {
            List<Transcript.Entry> entries = transcript.entries().toList();
            int cut = state().givingWay().size();
            transcript = Transcript.EMPTY;
            say(Optional.empty(), Summary.message(words));
            entries.subList(cut, entries.size()).forEach(entry -> transcript = transcript.plus(entry));
            gauge = Optional.of(gauge().unread());
            versionReached = true;
        }
        return null;
    }

    @Override
    public @Nullable Void summaryFailed(Fact.SummaryFailed fact) {
        summaryCame(fact.step(), fact.spent());
        return null;
    }

    private void summaryCame(int step, Spent spent) {
        spend(spent);
        if (isCurrent(step)) {
            modelCalled = false;
            turn = turn.used(spent.usage());
        }
    }

    private TokenEstimate gauge() {
        return gauge.orElse(TokenEstimate.UNREAD);
    }

    /** What was taken is taken, whatever becomes of the turn that it was for. */
    private void spend(Spent more) {
        Spent sum = new Spent(usage, cost).plus(more);
        usage = sum.usage();
        cost = sum.cost();
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

    private void issue(List<Part.ToolUse> uses, List<Reply.Fault> faults) {
        batch = uses.stream().map(Part.ToolUse::id).toList();
        uses.forEach(use -> put(Call.issued(use, turn.number(), at)));
        for (int i = 0; i < uses.size(); i++) {
            Part.ToolUse use = uses.get(i);
            int number = i;
            Optional<Reply.Fault> fault =
                    faults.stream().filter(each -> each.call() == number).findFirst();
            Call call = call(use.id());
            if (!terms.orElseThrow().tools().containsKey(use.name())) {
                fail(call, ToolTexts.notFound(use.name(), terms.get()));
            } else if (i >= Conversation.MAX_CALLS) {
                fail(call, ToolTexts.tooMany());
            } else if (fault.isPresent()) {
                fail(call, ToolTexts.invalidInput(use.name(), fault.get().reason()));
            } else if (use.input().canonical().length() > Conversation.MAX_ARGS_LENGTH) {
                fail(call, ToolTexts.invalidInput(use.name(), "too large"));
            } else {
                bringOn(call);
            }
        }
        reachVersionWhenBatchIsDone();
    }

    /** Calls with side effects go one after the other where they are the same, so all of them are held at first. */
    private void bringOn(Call call) {
        if (careOf(call).effect()) {
            put(call.held(at));
        } else {
            advance(call);
        }
    }

    /** Of the same calls in one reply, the first that is open is brought on, and the others once it has ended. */
    private void releaseHeldCalls() {
        List<Call> open = state().openCalls();
        if (terms.isEmpty() || open.stream().noneMatch(Call::isHeld)) {
            return;
        }
        Set<Twin> busy = new LinkedHashSet<>();
        open.stream().filter(call -> !call.isHeld() && careOf(call).effect()).forEach(call -> busy.add(Twin.of(call)));
        for (Call call : open) {
            if (call.isHeld() && call(call.id()).isHeld() && !busy.contains(Twin.of(call))) {
                advance(call);
                if (call(call.id()).isOpen()) {
                    busy.add(Twin.of(call));
                }
            }
        }
        reachVersionWhenBatchIsDone();
    }

    /** What calls of the same tool with the same arguments have in common. */
    private record Twin(String tool, Json args) {
        static Twin of(Call call) {
            return new Twin(call.tool(), call.args());
        }
    }

    private void fail(Call call, String text) {
        put(call.ended(Call.Status.FAILED, text, at));
    }

    /** Brings a call that was never handed out as far as it goes without the outside world. */
    private void advance(Call call) {
        AgentPolicy.Care care = careOf(call);
        EffectLog.Effect effect = care.effect() ? effects.of(effectKey(call)) : EffectLog.Effect.NONE;
        AgentPolicy.ToolKind kind = terms.orElseThrow().tools().get(call.tool());
        Optional<EffectLog.Remembered> remembered = effect.rememberedFor(call.id());
        if (remembered.isPresent()) {
            effects = effects.with(effectKey(call), effect.forgetting(remembered.get()));
            doubt(call.repeating(remembered.get().repeat())
                    .claimedLater(remembered.get().claim()));
        } else if ((care.dedupe() || effect.inherited()) && effect.success().isPresent()) {
            String text =
                    ToolTexts.replay(effect.success().get(), effect.result().orElse(""));
            put(call.ended(Call.Status.COMPLETED, text, at));
        } else if (lacksApproval(call)) {
            askForApproval(call);
        } else if (kind == AgentPolicy.ToolKind.QUESTION) {
            ask(call);
        } else if (kind == AgentPolicy.ToolKind.STATE) {
            StateTools.Outcome outcome = StateTools.run(workspace, call.tool(), call.args(), at);
            workspace = outcome.workspace();
            put(call.ended(outcome.isError() ? Call.Status.FAILED : Call.Status.COMPLETED, outcome.text(), at));
        } else if (kind == AgentPolicy.ToolKind.SUBAGENT && taskFault(call).isPresent()) {
            fail(call, taskFault(call).get());
        } else {
            // What may have been handed out before keeps its key, whatever else has ended meanwhile.
            boolean first = call.dispatches() == 0 && call.claim().isEmpty();
            put((first ? call.repeating(effect.executions()) : call).issued(fenceToCome(call), at));
        }
    }

    private void ask(Call call) {
        if (call.args().field("question") instanceof String question) {
            put(call.asking(question, at));
        } else {
            fail(call, ToolTexts.invalidInput(call.tool(), "\"question\" is required and must be a string"));
        }
    }

    /** Why a subagent can't be given this, if it can't. */
    private Optional<String> taskFault(Call call) {
        if (!(call.args().field("task") instanceof String task) || task.isBlank()) {
            return Optional.of(ToolTexts.invalidInput(
                    call.tool(), "\"task\" is required and must be a string that says something"));
        }
        if (task.getBytes(StandardCharsets.UTF_8).length > Conversation.MAX_ARGS_LENGTH) {
            return Optional.of(ToolTexts.invalidInput(call.tool(), "too large"));
        }
        if (call.id().contains("/")) {
            return Optional.of(ToolTexts.failure("no thread can be named after a call whose id has a slash in it"));
        }
        return parent.map(Parent::depth).orElse(0) >= Conversation.MAX_DEPTH
                ? Optional.of(ToolTexts.failure("there are " + Conversation.MAX_DEPTH + " threads above this one"
                        + " already, and a subagent may have no more"))
                : Optional.empty();
    }

    private boolean lacksApproval(Call call) {
        return careOf(call).approval()
                && call.approval().filter(Call.Approval::approved).isEmpty();
    }

    private void askForApproval(Call call) {
        Optional<AgentPolicy.Approvals> approvals = terms.orElseThrow().approvals();
        if (approvals.filter(AgentPolicy.Approvals::nobody).isPresent()) {
            put(call.ended(Call.Status.DENIED, ToolTexts.deniedByNobody(call.tool()) + whatIsKnownOf(call), at));
        } else {
            put(call.awaiting(
                    approvals.flatMap(AgentPolicy.Approvals::timeoutMillis).map(at::plusMillis), at));
        }
    }

    @Override
    public @Nullable Void toolDispatched(Fact.ToolDispatched fact) {
        calls.get(fact.callId())
                .filter(call -> call.status() == Call.Status.ISSUED)
                .ifPresent(call -> put(call.dispatched(fact.dispatch(), at)));
        return null;
    }

    @Override
    public @Nullable Void toolClaimed(Fact.ToolClaimed fact) {
        Optional<Call> claimed = calls.get(fact.callId()).filter(call -> Admission.isOfOpenDispatch(call, fact));
        if (claimed.isPresent()) {
            Call.Claim claim = new Call.Claim(fact.execution(), at);
            put(claimed.get().repeating(fact.repeat()).claimed(claim, at));
        } else {
            restore(fact);
            reachVersionWhenBatchIsDone();
        }
        return null;
    }

    /**
     * A claim that a reset brought back, of a dispatch that is not open here. What was claimed may have taken effect, or
     * be about to, so whichever call comes to the same must not just run.
     */
    private void restore(Fact.ToolClaimed fact) {
        Call.Claim claim = new Call.Claim(fact.execution(), at);
        Optional<Call> own = batch.stream()
                .filter(fact.callId()::equals)
                .map(this::call)
                .filter(call -> Admission.isOfCall(call, fact))
                .findFirst();
        Optional<Call> answerable = own.isPresent()
                ? own
                : state().openCalls().stream()
                        .filter(call -> call.claim().isEmpty() && Admission.isOfCall(call, fact))
                        .findFirst();
        if (answerable.isEmpty() || !takeUp(answerable.get().repeating(fact.repeat()), claim)) {
            String key = EffectLog.key(fact.tool(), fact.argsDigest());
            effects = effects.with(
                    key, effects.of(key).remembering(new EffectLog.Remembered(fact.callId(), fact.repeat(), claim)));
            state().openCalls().stream()
                    .filter(call -> Admission.isOfCall(call, fact))
                    .forEach(this::postpone);
        }
    }

    /** Has a call that the transcript does not hold yet answer for a claim, if it can. */
    private boolean takeUp(Call call, Call.Claim claim) {
        switch (call.status()) {
            case ISSUED, HELD, AWAITING, DISPATCHED, CLAIMED, UNKNOWN, DOUBTED, UNSETTLED ->
                doubt(call.claimedLater(claim));
            case VERIFYING, LOST -> put(call.claimedLater(claim));
            case DENIED, FAILED, CANCELLED -> {
                if (turn.isRunning() && call.status() != Call.Status.CANCELLED) {
                    doubt(call.claimedLater(claim)); // It was said not to have run.
                } else {
                    String known = call.claim().isPresent() ? "" : ToolTexts.claimed(claim.at());
                    String text = call.result().orElse("") + known;
                    put(call.claimedLater(claim).ended(call.status(), text, at));
                }
            }
            case ASKING, COMPLETED, DELEGATED -> {
                return false;
            }
        }
        return true;
    }

    /** Something may still take effect that is the same as this call. It must be over before anything is concluded. */
    private void postpone(Call call) {
        switch (call.status()) {
            case UNKNOWN, DOUBTED -> doubt(call);
            case ISSUED -> put(call.issued(fenceToCome(call), at));
            case HELD,
                    AWAITING,
                    DISPATCHED,
                    CLAIMED,
                    DELEGATED,
                    VERIFYING,
                    UNSETTLED,
                    ASKING,
                    COMPLETED,
                    FAILED,
                    DENIED,
                    CANCELLED,
                    LOST -> {
                // The time is asked for when it matters.
            }
        }
    }

    @Override
    public @Nullable Void toolNotStarted(Fact.ToolNotStarted fact) {
        Optional<Call> call = calls.get(fact.callId()).filter(each -> each.dispatches() == fact.dispatch());
        boolean ownClaim = call.flatMap(Call::claim)
                .map(claim -> claim.execution().equals(fact.execution()))
                .orElse(false);
        if (call.isEmpty()) {
            return null;
        }
        switch (call.get().status()) {
            case DISPATCHED -> dispatchAgain(call.get(), fact.reason());
            case CLAIMED -> {
                if (ownClaim) {
                    dispatchAgain(call.get(), fact.reason());
                } else {
                    doubt(call.get());
                    reachVersionWhenBatchIsDone();
                }
            }
            case CANCELLED -> {
                if (ownClaim) {
                    put(call.get().withoutClaim());
                }
            }
            case ISSUED,
                    HELD,
                    AWAITING,
                    DELEGATED,
                    UNKNOWN,
                    DOUBTED,
                    VERIFYING,
                    UNSETTLED,
                    ASKING,
                    COMPLETED,
                    FAILED,
                    DENIED,
                    LOST -> {
                // Another dispatch's business.
            }
        }
        return null;
    }

    /** It did not run, so the model hears nothing of it, unless it never runs. */
    private void dispatchAgain(Call call, String reason) {
        if (call.dispatches() >= Conversation.MAX_DISPATCHES) {
            end(call.withoutClaim(), Call.Status.FAILED, ToolTexts.failure("could not be started: " + reason));
        } else {
            long seconds = call.dispatches() < 2 ? 0 : 1L << Math.min(call.dispatches() - 2, 5);
            put(call.withoutClaim().issued(seconds == 0 ? Optional.empty() : Optional.of(at.plusSeconds(seconds)), at));
        }
    }

    @Override
    public @Nullable Void toolFinished(Fact.ToolFinished fact) {
        Call.Status status = fact.isError() ? Call.Status.FAILED : Call.Status.COMPLETED;
        Optional<Call> running = running(fact.callId(), fact.dispatch());
        if (running.isPresent()) {
            executed(running.get(), !fact.isError(), fact.content());
            end(running.get(), status, fact.content());
            return null;
        }
        // A turn may have been stopped meanwhile. What is known of the effect is good to know all the same.
        calls.get(fact.callId())
                .filter(call -> call.status() == Call.Status.CANCELLED && call.dispatches() == fact.dispatch())
                .ifPresent(call -> {
                    executed(call, !fact.isError(), fact.content());
                    put(call.withoutClaim());
                });
        return null;
    }

    @Override
    public @Nullable Void toolInterrupted(Fact.ToolInterrupted fact) {
        running(fact.callId(), fact.dispatch()).ifPresent(call -> {
            executed(call, false, "");
            put(call.asking(fact.question(), at));
        });
        return null;
    }

    @Override
    public @Nullable Void toolLost(Fact.ToolLost fact) {
        running(fact.callId(), fact.dispatch()).ifPresent(call -> {
            if (call.claim().isPresent()) {
                doubt(call);
                reachVersionWhenBatchIsDone();
            } else if (careOf(call).effect()) {
                dispatchAgain(call, fact.problem().message());
            } else {
                end(call, Call.Status.FAILED, ToolTexts.failure(fact.problem().message()));
            }
        });
        return null;
    }

    // ---- calls that may or may not have taken effect

    /** Takes up a call that was claimed and of which nothing more will be heard. */
    private void doubt(Call call) {
        if (!careOf(call).verify()) {
            leaveUndecided(call);
        } else if (fenceOf(call).isAfter(at)) {
            put(call.unknown(fenceOf(call), at));
        } else {
            put(call.doubted(at));
        }
    }

    private void leaveUndecided(Call call) {
        if (careOf(call).ask()) {
            put(call.unsettled(at));
        } else {
            giveUp(call);
        }
    }

    private void giveUp(Call call) {
        put(call.ended(
                Call.Status.LOST,
                ToolTexts.durability(call.tool(), call.id(), call.claim().map(Call.Claim::at)),
                at));
        if (careOf(call).dedupe()) {
            // Whoever wanted the one effect twice has now to be told twice that nobody knows.
            state().openCalls().stream()
                    .filter(other -> other.isHeld() && Twin.of(other).equals(Twin.of(call)))
                    .forEach(twin -> put(twin.ended(
                            Call.Status.LOST, ToolTexts.durability(twin.tool(), twin.id(), Optional.empty()), at)));
        }
    }

    /**
     * Nothing of the call runs after this, nor of what a reset took back that was the same: a worker has ended it, or the
     * launcher did.
     */
    private Instant fenceOf(Call call) {
        Instant claimedAt = Stream.concat(
                        call.claim().stream(),
                        effects.of(effectKey(call)).remembered().stream().map(EffectLog.Remembered::claim))
                .map(Call.Claim::at)
                .max(Instant::compareTo)
                .orElse(at);
        return claimedAt.plusMillis(careOf(call).timeoutMillis()).plus(Conversation.FENCE);
    }

    /** When a call may run, if it may not yet. */
    private Optional<Instant> fenceToCome(Call call) {
        return call.claim().map(claim -> fenceOf(call)).filter(time -> time.isAfter(at));
    }

    /** A claim stays until nothing of it can run any more: a person may say too early that nothing came of it. */
    private void runAgain(Call call) {
        Call again = fenceToCome(call).isPresent() ? call : call.withoutClaim();
        if (lacksApproval(call)) {
            askForApproval(again); // It was approved in a run that was taken back.
        } else {
            put(again.issued(fenceToCome(again), at));
        }
        reachVersionWhenBatchIsDone();
    }

    @Override
    public @Nullable Void verifyDispatched(Fact.VerifyDispatched fact) {
        calls.get(fact.callId())
                .filter(call -> call.status() == Call.Status.DOUBTED)
                .ifPresent(call -> put(call.verifying(at)));
        return null;
    }

    @Override
    public @Nullable Void toolVerified(Fact.ToolVerified fact) {
        Optional<Call> verified = calls.get(fact.callId())
                .filter(call -> call.status() == Call.Status.VERIFYING && call.dispatches() == fact.dispatch());
        verified.ifPresent(call -> {
            if (fact.landed().orElse(false)) {
                settleAsDone(call, fact.result().orElseGet(ToolTexts::verified));
            } else if (fact.landed().isPresent() && fenceOf(call).isAfter(call.since())) {
                doubt(call); // Another claim came to light meanwhile, and it was looked for too early.
            } else if (fact.landed().isPresent() && careOf(call).rerun()) {
                runAgain(call);
            } else {
                leaveUndecided(call);
                reachVersionWhenBatchIsDone();
            }
        });
        return null;
    }

    private void settleAsDone(Call call, String text) {
        executed(call, true, text);
        end(call, Call.Status.COMPLETED, text);
    }

    @Override
    public @Nullable Void outcomeSettled(Fact.OutcomeSettled fact) {
        OpenRequest ask = asked(OpenRequest.Kind.UNKNOWN, Optional.of(fact.callId()));
        if (passOn(ask, fact.signal(), body -> {
            body.put("outcome", fact.settlement().wireName());
            fact.result().ifPresent(result -> body.put("result", result));
            fact.by().ifPresent(by -> body.put("by", by));
        })) {
            return null;
        }
        Call call = call(fact.callId());
        switch (fact.settlement()) {
            case DONE -> settleAsDone(call, fact.result().orElseGet(() -> ToolTexts.done(fact.by())));
            case RERUN -> runAgain(call);
            case GIVE_UP -> {
                giveUp(call);
                reachVersionWhenBatchIsDone();
            }
        }
        return null;
    }

    @Override
    public @Nullable Void timePassed(Fact.TimePassed fact) {
        for (Call call : state().openCalls()) {
            if (call.wakeAt().filter(time -> !time.isAfter(at)).isPresent()) {
                if (call.status() == Call.Status.AWAITING) {
                    deny(call, Optional.empty(), Optional.of("timeout"), ToolTexts.deniedByTime(call.tool()));
                } else if (call.status() == Call.Status.UNKNOWN) {
                    put(call.doubted(at));
                } else {
                    put(call.awake());
                }
            }
        }
        return null;
    }

    // ---- subagents

    @Override
    public @Nullable Void subagentStarted(Fact.SubagentStarted fact) {
        calls.get(fact.callId())
                .filter(call -> call.status() == Call.Status.ISSUED)
                .ifPresent(call -> put(call.delegated(fact.budget(), at)));
        return null;
    }

    @Override
    public @Nullable Void subagentNotStarted(Fact.SubagentNotStarted fact) {
        calls.get(fact.callId()).ifPresent(call -> {
            Call heard = finished(call);
            put(heard);
            if (!call.isOpen()) {
                return;
            }
            if (fact.exists()) {
                giveUp(heard); // A reset took the call back, and not what its thread did.
            } else {
                fail(heard, ToolTexts.failure("could not be started: " + fact.reason()));
            }
            reachVersionWhenBatchIsDone();
        });
        return null;
    }

    @Override
    public @Nullable Void subagentFinished(Fact.SubagentFinished fact) {
        calls.get(fact.callId()).ifPresent(call -> {
            fact.spent().ifPresent(spent -> book(call, spent));
            Call heard = finished(call(call.id()));
            put(heard);
            if (call.status() != Call.Status.DELEGATED) {
                return;
            }
            if (fact.status().equals(Turn.Status.COMPLETE.wireName())) {
                end(heard, Call.Status.COMPLETED, fact.text());
            } else {
                end(
                        heard,
                        Call.Status.FAILED,
                        ToolTexts.subagent(call.tool(), fact.status(), fact.problem(), fact.text()));
            }
        });
        return null;
    }

    private static Call finished(Call call) {
        return call.subagent().map(known -> call.delegating(known.finished())).orElse(call);
    }

    @Override
    public @Nullable Void subagentReported(Fact.SubagentReported fact) {
        book(call(fact.callId()), fact.report().spent());
        Call call = call(fact.callId());
        if (call.status() == Call.Status.DELEGATED) {
            put(call.delegating(call.subagent().orElseThrow().reported(fact.report())));
        }
        return null;
    }

    /** What is spent below is spent here, as soon as it is known, and once. */
    private void book(Call call, Spent total) {
        call.subagent().ifPresent(known -> {
            Spent more = total.minus(known.booked());
            spend(more);
            turn = turn.usedMore(call.turn(), more.usage());
            ended = ended.map(last -> last.usedMore(call.turn(), more.usage()));
            put(call.delegating(known.booking(known.booked().plus(more))));
        });
    }

    @Override
    public @Nullable Void decisionPassedOn(Fact.DecisionPassedOn fact) {
        calls.get(fact.callId())
                .ifPresent(call -> call.subagent().ifPresent(known -> put(call.delegating(known.passedOn()))));
        return null;
    }

    @Override
    public @Nullable Void parentTold(Fact.ParentTold fact) {
        reported = Optional.of(fact.report());
        return null;
    }

    @Override
    public @Nullable Void subagentsCutOff(Fact.SubagentsCutOff fact) {
        state().openCalls().stream()
                .filter(call -> call.status() == Call.Status.DELEGATED)
                .forEach(call ->
                        fail(call, ToolTexts.subagent(call.tool(), "cancelled", Optional.of(fact.problem()), "")));
        reachVersionWhenBatchIsDone();
        return null;
    }

    // ---- what calls have in common

    /** The call, if this dispatch of it is the one that is awaited. */
    private Optional<Call> running(String callId, int dispatch) {
        return calls.get(callId)
                .filter(call -> call.status() == Call.Status.DISPATCHED || call.status() == Call.Status.CLAIMED)
                .filter(call -> call.dispatches() == dispatch);
    }

    /** Books that a claimed call has an outcome that is known. */
    private void executed(Call call, boolean succeeded, String text) {
        AgentPolicy.Care care = careOf(call);
        if (call.claim().isPresent() && care.effect()) {
            EffectLog.Effect effect = effects.of(effectKey(call)).executed();
            effects = effects.with(
                    effectKey(call), succeeded && care.dedupe() ? effect.succeeded(call.id(), text) : effect);
            // One that is to run for the first time, after a call of an earlier turn, is the next of its kind now.
            state().openCalls().stream()
                    .filter(other -> other.status() == Call.Status.ISSUED
                            && other.dispatches() == 0
                            && other.claim().isEmpty()
                            && effectKey(other).equals(effectKey(call)))
                    .forEach(other -> put(other.repeating(effect.executions())));
        }
    }

    private void end(Call call, Call.Status status, String text) {
        put(call.ended(status, text, at));
        reachVersionWhenBatchIsDone();
    }

    /** What a model has to be told beside anything else that it is told of a call. */
    private static String whatIsKnownOf(Call call) {
        return call.claim().map(claim -> ToolTexts.claimed(claim.at())).orElse("");
    }

    private AgentPolicy.Care careOf(Call call) {
        return terms.map(known -> known.careOf(call.tool())).orElse(AgentPolicy.Care.NONE);
    }

    private static String effectKey(Call call) {
        return EffectLog.key(call.tool(), call.argsDigest());
    }

    private Call call(String id) {
        return calls.get(id).orElseThrow();
    }

    private void reachVersionWhenBatchIsDone() {
        versionReached |= state().openCalls().isEmpty();
    }

    private void cancelOpenCalls(String text) {
        for (Call call : state().openCalls()) {
            put(call.ended(Call.Status.CANCELLED, text + whatIsKnownOf(call), at));
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
            longer.add(new Queued(fact.id(), content, at, fact.schema()));
            queue = longer;
        });
        Optional<Json> schema = fact.schema().or(() -> fact.retry() ? turn.schema() : Optional.empty());
        if (!turn.isRunning() && !state().isBlank()) {
            if (fact.retry()) {
                answerMisfit();
            }
            openTurn();
        }
        if (fact.content().isEmpty() && turn.isRunning()) {
            schema.ifPresent(wanted -> turn = turn.wanting(wanted));
        }
        return null;
    }

    /** The model ended the conversation, with the wrong words, and services take none that has ended so. */
    private void answerMisfit() {
        turn.problem()
                .filter(problem -> problem.type().equals(Problem.SCHEMA_MISMATCH))
                .map(Problem::message)
                .filter(message -> message.startsWith(ASKED_TWICE)) // One from a file may say anything.
                .map(message -> message.substring(ASKED_TWICE.length()))
                .ifPresent(misfit -> say(Optional.empty(), Message.user(ToolTexts.misfit(misfit))));
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
        OpenRequest ask = asked(OpenRequest.Kind.QUESTION, fact.callId());
        if (!passOn(ask, fact.signal(), body -> {
            body.put("answer", fact.answer());
            fact.by().ifPresent(by -> body.put("by", by));
        })) {
            end(call(ask.callId()), Call.Status.COMPLETED, fact.answer());
        }
        return null;
    }

    @Override
    public @Nullable Void approvalDecided(Fact.ApprovalDecided fact) {
        OpenRequest ask = asked(OpenRequest.Kind.APPROVAL, fact.callId());
        if (passOn(ask, fact.signal(), body -> {
            fact.args().ifPresent(args -> body.put("args", args.value()));
            // What was shown here is what is decided there, and nothing that came after.
            body.put("argsDigest", ask.argsDigest().orElseThrow());
            fact.by().ifPresent(by -> body.put("by", by));
            fact.reason().ifPresent(reason -> body.put("reason", reason));
        })) {
            return null;
        }
        Call call = call(ask.callId());
        if (!fact.approved()) {
            deny(call, fact.by(), fact.reason(), ToolTexts.denied(call.tool(), fact.reason()));
            return null;
        }
        Json args = fact.args().orElse(call.args());
        boolean edited = !args.equals(call.args());
        Call approved = call.decided(new Call.Approval(true, edited, fact.by(), fact.reason(), at), args, at);
        bringOn(approved);
        reachVersionWhenBatchIsDone();
        return null;
    }

    /** What an answer or a decision is about. It was admitted, so there is such a thing. */
    private OpenRequest asked(OpenRequest.Kind kind, Optional<String> callId) {
        return Admission.meant(state(), kind, callId).orElseThrow();
    }

    /** If it was a thread below that asked, has it told. */
    private boolean passOn(OpenRequest ask, String signal, Consumer<Map<String, Object>> decision) {
        Optional<Call> above = calls.contains(ask.callId()) ? Optional.empty() : state().above(ask.callId());
        above.ifPresent(call -> {
            String below = ask.callId().substring(call.id().length() + 1);
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("callId", below);
            decision.accept(body);
            body.put(VIA, call.id());
            put(call.delegating(
                    call.subagent().orElseThrow().deciding(below, new Delegation.Decision(signal, Json.of(body)))));
        });
        return above.isPresent();
    }

    private void deny(Call call, Optional<String> by, Optional<String> reason, String text) {
        Call decided = call.decided(new Call.Approval(false, false, by, reason, at), call.args(), at);
        end(decided, Call.Status.DENIED, text + whatIsKnownOf(call));
    }

    @Override
    public @Nullable Void budgetRaised(Fact.BudgetRaised fact) {
        maxIterations = fact.iterations().or(() -> maxIterations);
        Budget before = state().limits();
        Budget after = before.raisedTo(fact.budget());
        if (!after.equals(before)) {
            budget = Optional.of(after);
        }
        boolean wasTheLimit = switch (turn.status()) {
            case MAX_ITERATIONS -> fact.iterations().isPresent();
            case BUDGET -> !after.equals(before);
            case NONE, RUNNING, COMPLETE, FAILED, STOPPED, CANCELLED -> false;
        };
        if (wasTheLimit && life == Conversation.Life.OPEN && !state().isBlank()) {
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
        if (fact.all()) {
            effects = effects.withoutResults();
        }
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
        ignored = ignored.plus(new IgnoredSignals.Item(signal, reason, at));
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
        gauge = gauge.map(TokenEstimate::unread);
        workspace = Workspace.EMPTY;
        // What was said lives on in the calls' arguments, and a full thread would stay full.
        PersistentMap<Call> kept = calls;
        kept.forEach((id, call) -> put(call.forgotten(careOf(call).effect())));
        full = false;
        versionReached = true;
    }

    // ---- turns and the transcript

    private void openTurn() {
        turn = turn.next(at);
    }

    private void endTurn(Turn.Status how, String words, @Nullable Problem why) {
        if (state().isSummarising()) {
            gauge = Optional.of(gauge().notSummarising());
        }
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
}
