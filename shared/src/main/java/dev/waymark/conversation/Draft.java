package dev.waymark.conversation;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The one mutable copy of the state, made once for each fact. The rules change it in turn, and {@link #state()} makes an
 * immutable value of it again.
 *
 * <p>Besides the fields it has only what every rule needs: looking calls up, replacing them, and saying something.
 */
final class Draft {
    /** The time of the fact that is being applied. */
    final Instant at;

    int rules;
    String agent;
    boolean once;
    Optional<Integer> maxIterations;
    boolean agentRequested;
    Optional<AgentPolicy> terms;
    Conversation.Life life;
    boolean full;
    Transcript transcript;
    List<Queued> queue;
    Turn turn;
    Optional<Turn> ended;
    boolean modelCalled;
    List<String> batch;
    PersistentMap<Call> calls;
    EffectLog effects;
    Workspace workspace;
    Usage usage;
    SeenIds seen;
    IgnoredSignals ignored;
    int facts;
    int steps;
    int versions;
    int messages;
    Instant createdAt;
    Optional<Origin> origin;
    Optional<Parent> parent;
    Optional<SubagentProgress> reported;
    Optional<Usd> cost;
    Optional<Budget> budget;
    Optional<Json> context;
    Optional<TokenEstimate> gauge;

    /** Whether the fact brings the thread to a point that is shown as a version of its own. Not part of the state. */
    boolean versionReached;

    /** The state of a thread in which nothing has happened yet. */
    Draft(int rules, String agent, Instant at) {
        this.at = at;
        this.rules = rules;
        this.agent = agent;
        this.maxIterations = Optional.empty();
        this.terms = Optional.empty();
        this.life = Conversation.Life.OPEN;
        this.transcript = Transcript.EMPTY;
        this.queue = List.of();
        this.turn = Turn.none(at);
        this.ended = Optional.empty();
        this.batch = List.of();
        this.calls = PersistentMap.empty();
        this.effects = EffectLog.NONE;
        this.workspace = Workspace.EMPTY;
        this.usage = Usage.NONE;
        this.seen = SeenIds.NOTHING;
        this.ignored = IgnoredSignals.NOTHING;
        this.createdAt = at;
        this.origin = Optional.empty();
        this.parent = Optional.empty();
        this.reported = Optional.empty();
        this.cost = Optional.empty();
        this.budget = Optional.empty();
        this.context = Optional.empty();
        this.gauge = Optional.empty();
    }

    Draft(Conversation from, Instant at) {
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

    /** The state as it is so far. */
    Conversation state() {
        return state(at);
    }

    Conversation state(Instant updatedAt) {
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

    TokenEstimate gauge() {
        return gauge.orElse(TokenEstimate.UNREAD);
    }

    AgentPolicy.Care careOf(Call call) {
        return terms.map(known -> known.careOf(call.tool())).orElse(AgentPolicy.Care.NONE);
    }

    /** There is nothing that a model could be asked about. */
    boolean isBlank() {
        return transcript.isEmpty() && queue.isEmpty();
    }

    /** Only people are waited for. */
    boolean isInterrupted() {
        return turn.isRunning() && Call.onlyAsk(openCalls());
    }

    /** What was taken is taken, whatever becomes of the turn that it was for. */
    void spend(Spent more) {
        Spent sum = new Spent(usage, cost).plus(more);
        usage = sum.usage();
        cost = sum.cost();
    }

    // ---- calls

    /** A call that exists. */
    Call call(String id) {
        return calls.get(id).orElseThrow();
    }

    /** The calls of the newest reply that have no result yet, in the order in which the model made them. */
    List<Call> openCalls() {
        return batch.stream().map(this::call).filter(Call::isOpen).toList();
    }

    void put(Call call) {
        calls = calls.with(call.id(), call);
    }

    void fail(Call call, String text) {
        put(call.ended(Call.Status.FAILED, text, at));
    }

    /** Ends a call, which is a version if it was the last open one. */
    void end(Call call, Call.Status status, String text) {
        put(call.ended(status, text, at));
        reachVersionWhenBatchIsDone();
    }

    void cancelOpenCalls(String text) {
        for (Call call : openCalls()) {
            put(call.ended(Call.Status.CANCELLED, text + claimNote(call), at));
        }
    }

    /** Whether a failure says no more than that a worker could not read this thread and left the work to others. */
    boolean isLeft(Problem problem) {
        return rules >= 2 && problem.type().equals(Problem.UNKNOWN_RULES);
    }

    void reachVersionWhenBatchIsDone() {
        versionReached |= openCalls().isEmpty();
    }

    /** Tells the model that a call that ends without an outcome was claimed, and so may have taken effect. */
    static String claimNote(Call call) {
        return call.claim().map(claim -> ToolTexts.claimed(claim.at())).orElse("");
    }

    // ---- side effects

    static String effectKey(Call call) {
        return EffectLog.key(call.tool(), call.argsDigest());
    }

    EffectLog.Effect effectOf(Call call) {
        return effects.of(effectKey(call));
    }

    void put(Call call, EffectLog.Effect effect) {
        effects = effects.with(effectKey(call), effect);
    }

    // ---- what is said, and what is not

    void say(Optional<String> source, Message message) {
        messages++;
        transcript = transcript.plus(new Transcript.Entry("m" + messages, at, source, message));
    }

    void ignore(String signal, String reason) {
        ignored = ignored.plus(new IgnoredSignals.Item(signal, reason, at));
    }
}
