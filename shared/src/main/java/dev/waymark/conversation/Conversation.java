package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
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
        @JsonUnwrapped ThreadIdentity identity,
        @JsonUnwrapped AgentBinding binding,
        @JsonUnwrapped Dialogue dialogue,
        @JsonUnwrapped CallBook callBook,
        @JsonUnwrapped Money money,
        @JsonUnwrapped ParentLink parentLink,
        @JsonUnwrapped Arrivals arrivals,
        @JsonProperty("counters") Counters counters) {
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
        Objects.requireNonNull(counters, "counters");
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
        return terms().map(known -> known.tools().get(call.tool()) == AgentPolicy.ToolKind.SUBAGENT)
                .orElse(false);
    }

    /** The results that the newest calls have so far and that the transcript does not hold yet, in call order. */
    public List<Part.ToolResult> uncommittedResults() {
        return batchCalls().stream().flatMap(call -> call.toolResult().stream()).toList();
    }

    /** The messages that give way to the summary that is being written. */
    public List<Message> givingWay() {
        List<Message> messages = transcript().messages();
        int keep = terms().flatMap(AgentPolicy::summaries)
                .orElse(SummaryRule.DEFAULT)
                .keepMessages();
        return messages.subList(0, Math.max(0, Summary.cut(messages, keep)));
    }

    /** The model writes a summary, and no reply. */
    @JsonIgnore
    public boolean isSummarising() {
        return dialogue.isSummarising(counters.steps());
    }

    /** How many calls of the same came to a known end before this one runs, or ran. */
    public int repeatOf(Call call) {
        boolean runsLater =
                call.isOpen() && call.dispatches() == 0 && call.claim().isEmpty() && !call.wasBegun();
        return runsLater ? callBook.effectOf(call).executions() : call.repeat();
    }

    /** Whether something waits for a time that has come. */
    private boolean isDue(Instant now) {
        return openCalls().stream().flatMap(call -> call.wakeAt().stream()).anyMatch(time -> !time.isAfter(now));
    }

    /** Why a message from outside can't be used as things stand, or empty when it can. */
    public Optional<Problem> refusal(Fact.Inbound fact) {
        return Admission.refusal(this, fact);
    }

    /** Why an update can't be accepted. A second delivery can: it is acknowledged like the first. */
    public Optional<Problem> updateRefusal(Fact.Inbound fact) {
        return refusal(fact).filter(problem -> !problem.type().equals(Problem.DUPLICATE));
    }

    /** The number of the fact that brought this message before, if this is a second delivery. */
    public Optional<Integer> firstDelivery(Fact.Inbound fact) {
        return fact.messageId().flatMap(id -> seen().factOf(id));
    }

    /** The claim that its execution was granted. One that was only remembered for a later call is not. */
    public Optional<Call.Claim> granted(Fact.ToolClaimed claimed) {
        return calls().get(claimed.callId())
                .filter(call -> call.status() == Call.Status.CLAIMED)
                .flatMap(Call::claim)
                .filter(claim -> claim.execution().equals(claimed.execution()));
    }

    /** What a thread is told of this one that carries out a call of it. */
    public Parent parentFor(Step.StartSubagent step) {
        return new Parent(step.call().id(), parent().map(Parent::depth).orElse(0) + 1, step.budget());
    }

    /** The calls of the newest reply, in the order in which the model made them. */
    public List<Call> batchCalls() {
        return callBook.batchCalls();
    }

    @JsonIgnore
    public List<Call> openCalls() {
        return callBook.openCalls();
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
        return callBook.asks(binding, rules());
    }

    /** The id under which other systems know this thread's calls, where it is not the thread's own. */
    @JsonIgnore
    public Optional<String> session() {
        return identity.origin().flatMap(Origin::session);
    }

    /** What the agent keeps beside the transcript. */
    @JsonIgnore
    public Workspace desk() {
        return callBook.workspace().orElse(Workspace.EMPTY);
    }

    /** Only people are waited for: nothing runs and nothing is left to run. */
    @JsonIgnore
    public boolean isInterrupted() {
        return turn().isRunning() && Call.onlyAsk(openCalls());
    }

    /** There is nothing that a model could be asked about. */
    @JsonIgnore
    public boolean isBlank() {
        return dialogue.isBlank();
    }

    /**
     * Nothing happens until somebody sends something. Before the agent is known something does: there may be no such
     * agent, and what calls from elsewhere wait for depends on it.
     */
    @JsonIgnore
    public boolean isSettled() {
        return !turn().isRunning() || (isInterrupted() && terms().isPresent());
    }

    /** No activity and no subagent is under way, as far as the state goes: a place where the thread may move to a new run. */
    @JsonIgnore
    public boolean isBetweenSteps() {
        return !modelCalled() && !binding.isResolving() && batchCalls().stream().noneMatch(Call::isInFlight);
    }

    @JsonIgnore
    public Phase phase() {
        if (!turn().isRunning()) {
            return Phase.IDLE;
        }
        if (terms().isEmpty()) {
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
        return money.iterationLimit(terms());
    }

    /** What the thread has taken over its whole life, model calls that came to nothing included. */
    @JsonIgnore
    public Spent spent() {
        return money.spent();
    }

    /** What the thread may take over its whole life. */
    @JsonIgnore
    public Budget limits() {
        return money.limits(terms(), parent());
    }

    // ---- what is waited for

    /** The agent's definition is waited for. */
    public boolean awaitsAgent() {
        return terms().isEmpty() && life() != Life.CANCELLED;
    }

    /** The reply, or the summary, that this model call brings is waited for. */
    public boolean awaitsModel(int step) {
        return modelCalled() && counters.steps() == step;
    }

    /** The outcome of this dispatch of a call is waited for. */
    public boolean awaitsTool(String callId, int dispatch) {
        return awaits(callId, dispatch, Call.Status.DISPATCHED) || awaits(callId, dispatch, Call.Status.CLAIMED);
    }

    /** What became of this dispatch of a call is being found out. */
    public boolean awaitsVerify(String callId, int dispatch) {
        return awaits(callId, dispatch, Call.Status.VERIFYING);
    }

    private boolean awaits(String callId, int dispatch, Call.Status status) {
        return calls().get(callId)
                .filter(call -> call.status() == status && call.dispatches() == dispatch)
                .isPresent();
    }

    /** The subagent that carries out this call is waited for. */
    public boolean awaitsSubagent(String callId) {
        return calls().get(callId)
                .filter(call -> call.status() == Call.Status.DELEGATED)
                .isPresent();
    }

    /** The same state with another transcript. */
    public Conversation withTranscript(Transcript other) {
        Draft draft = new Draft(this, updatedAt());
        draft.dialogue.transcript = other;
        return draft.state();
    }

    // ---- what readers of the whole ask its parts most

    public int rules() {
        return identity.rules();
    }

    public boolean once() {
        return identity.once();
    }

    public Life life() {
        return identity.life();
    }

    public boolean full() {
        return identity.full();
    }

    public Instant createdAt() {
        return identity.createdAt();
    }

    public Instant updatedAt() {
        return identity.updatedAt();
    }

    public Optional<Origin> origin() {
        return identity.origin();
    }

    public String agent() {
        return binding.agent();
    }

    public boolean agentRequested() {
        return binding.agentRequested();
    }

    public Optional<AgentPolicy> terms() {
        return binding.terms();
    }

    public Optional<Json> context() {
        return binding.context();
    }

    public Transcript transcript() {
        return dialogue.transcript();
    }

    public List<Queued> queue() {
        return dialogue.queue();
    }

    public Turn turn() {
        return dialogue.turn();
    }

    public Optional<Turn> ended() {
        return dialogue.ended();
    }

    public boolean modelCalled() {
        return dialogue.modelCalled();
    }

    public List<String> batch() {
        return callBook.batch();
    }

    public PersistentMap<Call> calls() {
        return callBook.calls();
    }

    public Optional<EffectLog> effects() {
        return callBook.effects();
    }

    public Usage usage() {
        return money.usage();
    }

    public Optional<Usd> cost() {
        return money.cost();
    }

    public Optional<Parent> parent() {
        return parentLink.parent();
    }

    public Optional<SubagentProgress> reported() {
        return parentLink.reported();
    }

    public SeenIds seen() {
        return arrivals.seen();
    }

    public IgnoredSignals ignored() {
        return arrivals.ignored();
    }
}
