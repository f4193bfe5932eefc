package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
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
        @JsonProperty("rules") int rules,
        @JsonProperty("agent") String agent,
        @JsonProperty("once") boolean once,
        @JsonProperty("maxIterations") Optional<Integer> maxIterations,
        @JsonProperty("agentRequested") boolean agentRequested,
        @JsonProperty("terms") Optional<Terms> terms,
        @JsonProperty("life") Life life,
        @JsonProperty("full") boolean full,
        @JsonProperty("transcript") Transcript transcript,
        @JsonProperty("queue") List<Queued> queue,
        @JsonProperty("turn") Turn turn,
        @JsonProperty("ended") Optional<Turn> ended,
        @JsonProperty("modelCalled") boolean modelCalled,
        @JsonProperty("batch") List<String> batch,
        @JsonProperty("calls") Index<Call> calls,
        @JsonProperty("usage") Usage usage,
        @JsonProperty("seen") Seen seen,
        @JsonProperty("ignored") Ignored ignored,
        @JsonProperty("counters") Counters counters,
        @JsonProperty("createdAt") Instant createdAt,
        @JsonProperty("updatedAt") Instant updatedAt) {
    /** The rules that new threads adopt. Every earlier number keeps working. */
    public static final int RULES = 1;

    /** Longer arguments, as canonical JSON, are not handed to a tool. */
    static final int MAX_ARGS_LENGTH = 256 * 1024;

    /** The most calls of one reply that are carried out at all: every fact looks at all of them. */
    static final int MAX_CALLS = 500;

    /** The most calls of one reply that run at a time. The rest follow as these end. */
    static final int MAX_PARALLEL_CALLS = 50;

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
        ended = ended == null ? Optional.empty() : ended;
        queue = List.copyOf(queue);
        batch = List.copyOf(batch);
        if (rules < 1 || rules > RULES) {
            throw new IllegalArgumentException("this thread goes by rules " + rules
                    + "; this version of Waymark knows rules 1 to " + RULES + ". Upgrade the workers first.");
        }
    }

    /** The state of a new thread. */
    public static Conversation start(Fact.RunStarted fact, Instant at) {
        return Evolution.start(fact, at);
    }

    /** The state after a fact. Facts that no longer matter, such as a late answer of a model, change next to nothing. */
    public Conversation apply(Fact fact, Instant at) {
        return Evolution.of(this, at).apply(fact);
    }

    /** What should happen now, from the state alone. Carrying a step out applies a fact that takes it off the list. */
    public List<Step> decide() {
        if (life == Life.CANCELLED) {
            return List.of(new Step.Close(true));
        }
        if (!agentRequested) {
            return List.of(new Step.ResolveAgent(agent));
        }
        if (!turn.isRunning()) {
            boolean over = life == Life.CLOSING || (once && turn.number() > 0);
            return over ? List.of(new Step.Close(false)) : List.of();
        }
        if (terms.isEmpty() || modelCalled) {
            return List.of();
        }
        if (openCalls().isEmpty()) {
            return List.of(new Step.CallModel(counters.steps() + 1));
        }
        List<Call> calls = batchCalls();
        long running = calls.stream()
                .filter(call -> call.status() == Call.Status.DISPATCHED)
                .count();
        return calls.stream()
                .filter(call -> call.status() == Call.Status.ISSUED)
                .limit(Math.max(0, MAX_PARALLEL_CALLS - running))
                .<Step>map(call -> new Step.RunTool(call, call.dispatches() + 1))
                .toList();
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

    /** Nothing happens until somebody sends something. */
    @JsonIgnore
    public boolean isSettled() {
        return !turn.isRunning() || isInterrupted();
    }

    /** No activity is under way, as far as the state goes: a place where the thread may move to a new run. */
    @JsonIgnore
    public boolean isBetweenSteps() {
        boolean resolving = agentRequested && terms.isEmpty();
        return !modelCalled
                && !resolving
                && batchCalls().stream().noneMatch(call -> call.status() == Call.Status.DISPATCHED);
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
        return maxIterations.or(() -> terms.map(Terms::maxIterations));
    }

    /** The same state with another transcript. */
    public Conversation withTranscript(Transcript other) {
        return new Conversation(
                rules,
                agent,
                once,
                maxIterations,
                agentRequested,
                terms,
                life,
                full,
                other,
                queue,
                turn,
                ended,
                modelCalled,
                batch,
                calls,
                usage,
                seen,
                ignored,
                counters,
                createdAt,
                updatedAt);
    }
}
