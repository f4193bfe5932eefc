package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The whole state of a thread: an immutable value, folded from its facts.
 *
 * <p>It holds no run id, no event id, no attempt: those belong to one execution, and a thread outlives many. Its JSON
 * is what continue-as-new carries, so fields are only ever added.
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record Conversation(
        @JsonProperty("rules") int rules,
        @JsonProperty("agent") String agent,
        @JsonProperty("once") boolean once,
        @JsonProperty("maxIterations") Optional<Integer> maxIterations,
        @JsonProperty("agentRequested") boolean agentRequested,
        @JsonProperty("terms") Optional<AgentPolicy> terms,
        @JsonProperty("life") Life life,
        @JsonProperty("full") boolean full,
        @JsonProperty("transcript") Transcript transcript,
        @JsonProperty("queue") List<Queued> queue,
        @JsonProperty("turn") Turn turn,
        @JsonProperty("ended") Optional<Turn> ended,
        @JsonProperty("modelCalled") boolean modelCalled,
        @JsonProperty("batch") List<String> batch,
        @JsonProperty("calls") PersistentMap<Call> calls,
        @JsonProperty("effects") Optional<EffectLog> effects,
        @JsonProperty("workspace") Optional<Workspace> workspace,
        @JsonProperty("usage") Usage usage,
        @JsonProperty("seen") SeenIds seen,
        @JsonProperty("ignored") IgnoredSignals ignored,
        @JsonProperty("counters") Counters counters,
        @JsonProperty("createdAt") Instant createdAt,
        @JsonProperty("updatedAt") Instant updatedAt,
        @JsonProperty("origin") Optional<Origin> origin,
        @JsonProperty("parent") Optional<Parent> parent,
        @JsonProperty("reported") Optional<SubagentProgress> reported,
        @JsonProperty("cost") Optional<Usd> cost,
        @JsonProperty("budget") Optional<Budget> budget,
        @JsonProperty("context") Optional<Json> context,
        @JsonProperty("gauge") Optional<TokenEstimate> gauge) {
    /** The rules that new threads adopt. Every earlier number keeps working. */
    public static final int RULES = 2;

    /** Longer arguments, as canonical JSON, are not handed to a tool. */
    static final int MAX_ARGS_LENGTH = 256 * 1024;

    /** The most calls of one reply that are carried out at all: every fact looks at all of them. */
    static final int MAX_CALLS = 500;

    /** The most calls of one reply that run at a time. The rest follow as these end. */
    static final int MAX_PARALLEL_CALLS = 50;

    /** The same for calls with side effects: a server takes ten updates at a time, and people need some of them. */
    static final int MAX_PARALLEL_EFFECTS = 5;

    /** So many threads may be above one. */
    public static final int MAX_DEPTH = 5;

    /** So often a call is handed out without ever being started, until the model is told that it can't be. */
    static final int MAX_DISPATCHES = 20;

    /** What may still be running of a lost call is ended this long after it had to end by itself. */
    static final Duration FENCE = Duration.ofSeconds(5);

    /** How long the model is kept waiting for the outcome of a timed-out call: workers find a server again in half of it. */
    static final Duration LATE_WORD = Duration.ofSeconds(20);

    /** Whether the thread goes on. The names are stored. */
    public enum Life {
        @JsonProperty("open")
        OPEN,
        @JsonProperty("closing")
        CLOSING,
        @JsonProperty("cancelled")
        CANCELLED
    }

    /** What a thread is doing, in one word. The names are printed to users. */
    public enum Phase {
        STARTING("starting"),
        THINKING("thinking"),
        ACTING("acting"),
        WAITING("waiting"),
        IDLE("idle");

        private final String wireName;

        Phase(String wireName) {
            this.wireName = wireName;
        }

        public String wireName() {
            return wireName;
        }
    }

    @JsonCreator
    public Conversation {
        Objects.requireNonNull(agent, "agent");
        Objects.requireNonNull(life, "life");
        Objects.requireNonNull(transcript, "transcript");
        Objects.requireNonNull(turn, "turn");
        Objects.requireNonNull(calls, "calls");
        Objects.requireNonNull(usage, "usage");
        Objects.requireNonNull(seen, "seen");
        Objects.requireNonNull(ignored, "ignored");
        Objects.requireNonNull(counters, "counters");
        Objects.requireNonNull(createdAt, "createdAt");
        Objects.requireNonNull(updatedAt, "updatedAt");
        maxIterations = maxIterations == null ? Optional.empty() : maxIterations;
        terms = terms == null ? Optional.empty() : terms;
        effects = effects == null ? Optional.empty() : effects;
        workspace = workspace == null ? Optional.empty() : workspace;
        ended = ended == null ? Optional.empty() : ended;
        origin = origin == null ? Optional.empty() : origin;
        parent = parent == null ? Optional.empty() : parent;
        reported = reported == null ? Optional.empty() : reported;
        cost = cost == null ? Optional.empty() : cost;
        budget = budget == null ? Optional.empty() : budget;
        context = context == null ? Optional.empty() : context;
        gauge = gauge == null ? Optional.empty() : gauge;
        queue = List.copyOf(queue);
        batch = List.copyOf(batch);
        UnknownRulesException.unlessKnown(rules);
    }

    /** The state of a new thread. */
    public static Conversation start(Fact.RunStarted fact, Instant at) {
        return Evolution.start(fact, at);
    }

    /**
     * The state after a fact. Facts that no longer matter, such as a late answer of a model, change next to nothing. That
     * time has passed is one only if something waited for it: a timer may fire for nothing, and the state is the same
     * then.
     */
    public Conversation apply(Fact fact, Instant at) {
        if (fact instanceof Fact.TimePassed && !isDue(at)) {
            return this;
        }
        return Evolution.apply(this, fact, at);
    }

    /** What should happen now, from the state alone. Carrying a step out applies a fact that takes it off the list. */
    public List<Step> decide() {
        return Decider.decide(this);
    }

    /** Whether a subagent carries this call out, or did. */
    public boolean isForSubagent(Call call) {
        return terms.map(known -> known.tools().get(call.tool()) == AgentPolicy.ToolKind.SUBAGENT)
                .orElse(false);
    }

    /** The results that the newest calls have so far and that the transcript does not hold yet, in call order. */
    public List<Part.ToolResult> uncommittedResults() {
        return batchCalls().stream().flatMap(call -> call.toolResult().stream()).toList();
    }

    /** The messages that give way to the summary that is being written. */
    public List<Message> givingWay() {
        List<Message> messages = transcript.messages();
        int keep = terms.flatMap(AgentPolicy::summaries)
                .orElse(SummaryRule.DEFAULT)
                .keepMessages();
        return messages.subList(0, Math.max(0, Summary.cut(messages, keep)));
    }

    /** The model writes a summary, and no reply. */
    @JsonIgnore
    public boolean isSummarising() {
        return modelCalled && gauge.orElse(TokenEstimate.UNREAD).isSummary(counters.steps());
    }

    /** How many calls of the same came to a known end before this one runs, or ran. */
    public int repeatOf(Call call) {
        boolean runsLater =
                call.isOpen() && call.dispatches() == 0 && call.claim().isEmpty() && !call.wasBegun();
        return runsLater
                ? effects.orElse(EffectLog.NONE)
                        .of(EffectLog.key(call.tool(), call.argsDigest()))
                        .executions()
                : call.repeat();
    }

    /** Whether something waits for a time that has come. */
    private boolean isDue(Instant now) {
        return openCalls().stream().flatMap(call -> call.wakeAt().stream()).anyMatch(time -> !time.isAfter(now));
    }

    /** Why a message from outside can't be used as things stand, or empty when it can. */
    public Optional<Problem> refusal(Fact.Inbound fact) {
        return Admission.refusal(this, fact);
    }

    /** The calls of the newest reply, in the order in which the model made them. */
    public List<Call> batchCalls() {
        return batch.stream().map(id -> calls.get(id).orElseThrow()).toList();
    }

    @JsonIgnore
    public List<Call> openCalls() {
        return batchCalls().stream().filter(Call::isOpen).toList();
    }

    /** The calls that wait for a person, in call order. */
    @JsonIgnore
    public List<Call> questions() {
        return batchCalls().stream()
                .filter(call -> call.status() == Call.Status.ASKING)
                .toList();
    }

    /** The calls that only people can bring on, in call order. */
    @JsonIgnore
    public List<Call> waitingCalls() {
        return batchCalls().stream().filter(Call::waitsForPerson).toList();
    }

    /** Whether a subagent is at work. */
    public boolean hasSubagents() {
        return openCalls().stream().anyMatch(call -> call.status() == Call.Status.DELEGATED);
    }

    /** Everything that waits for a person, here and in the threads below, in call order. */
    public List<OpenRequest> asks() {
        List<OpenRequest> asks = new ArrayList<>();
        for (Call call : openCalls()) {
            if (call.status() == Call.Status.DELEGATED) {
                call.subagent().orElseThrow().asks().forEach(ask -> asks.add(ask.below(call.id())));
            } else if (call.waitsForPerson()) {
                asks.add(OpenRequest.of(call, terms, rules));
            }
        }
        return Collections.unmodifiableList(asks);
    }

    /** The call to a subagent below which another call is, by that call's id. */
    Optional<Call> above(String callId) {
        int slash = callId.indexOf('/');
        return slash < 0
                ? Optional.empty()
                : calls.get(callId.substring(0, slash))
                        .filter(call -> call.subagent().isPresent());
    }

    /** The id under which other systems know this thread's calls, where it is not the thread's own. */
    @JsonIgnore
    public Optional<String> session() {
        return origin.flatMap(Origin::session);
    }

    /** What the agent keeps beside the transcript. */
    @JsonIgnore
    public Workspace desk() {
        return workspace.orElse(Workspace.EMPTY);
    }

    /** Only people are waited for: nothing runs and nothing is left to run. */
    @JsonIgnore
    public boolean isInterrupted() {
        return turn.isRunning() && Call.onlyAsk(openCalls());
    }

    /** There is nothing that a model could be asked about. */
    @JsonIgnore
    public boolean isBlank() {
        return transcript.isEmpty() && queue.isEmpty();
    }

    /**
     * Nothing happens until somebody sends something. Before the agent is known something does: there may be no such
     * agent, and what calls from elsewhere wait for depends on it.
     */
    @JsonIgnore
    public boolean isSettled() {
        return !turn.isRunning() || (isInterrupted() && terms.isPresent());
    }

    /** No activity and no subagent is under way, as far as the state goes: a place where the thread may move to a new run. */
    @JsonIgnore
    public boolean isBetweenSteps() {
        boolean resolving = agentRequested && terms.isEmpty();
        return !modelCalled && !resolving && batchCalls().stream().noneMatch(Call::isInFlight);
    }

    @JsonIgnore
    public Phase phase() {
        if (!turn.isRunning()) {
            return Phase.IDLE;
        }
        if (terms.isEmpty()) {
            return Phase.STARTING;
        }
        if (isInterrupted()) {
            return Phase.WAITING;
        }
        return openCalls().isEmpty() ? Phase.THINKING : Phase.ACTING;
    }

    /** The most model calls that a turn may make, or empty while the agent is not known yet. */
    @JsonIgnore
    public Optional<Integer> iterationLimit() {
        return maxIterations.or(() -> terms.map(AgentPolicy::maxIterations));
    }

    /** What the thread has taken over its whole life, model calls that came to nothing included. */
    @JsonIgnore
    public Spent spent() {
        return new Spent(usage, cost);
    }

    /** What the thread may take over its whole life. */
    @JsonIgnore
    public Budget limits() {
        return budget.orElseGet(() -> terms.flatMap(AgentPolicy::budget)
                .orElse(Budget.UNLIMITED)
                .and(parent.flatMap(Parent::budget).orElse(Budget.UNLIMITED)));
    }

    /** The same state with another transcript. */
    public Conversation withTranscript(Transcript other) {
        Draft draft = new Draft(this, updatedAt);
        draft.transcript = other;
        return draft.state();
    }
}
