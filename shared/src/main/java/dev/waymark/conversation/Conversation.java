package dev.waymark.conversation;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.waymark.conversation.call.AgentPolicy;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.EffectLog;
import dev.waymark.conversation.call.Grant;
import dev.waymark.conversation.call.LongResult;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.call.SubagentProgress;
import dev.waymark.conversation.call.ToolDefinition;
import dev.waymark.conversation.call.TurnEnd;
import dev.waymark.conversation.decision.PendingItem;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Summary;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.policy.SummaryRule;
import dev.waymark.conversation.state.AgentBinding;
import dev.waymark.conversation.state.Announcement;
import dev.waymark.conversation.state.Announcements;
import dev.waymark.conversation.state.Arrivals;
import dev.waymark.conversation.state.CallBook;
import dev.waymark.conversation.state.Counters;
import dev.waymark.conversation.state.Dialogue;
import dev.waymark.conversation.state.Grants;
import dev.waymark.conversation.state.IgnoredSignals;
import dev.waymark.conversation.state.Money;
import dev.waymark.conversation.state.Origin;
import dev.waymark.conversation.state.ParentLink;
import dev.waymark.conversation.state.SeenIds;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Budget;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.UntrustedWords;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The whole state of a thread: an immutable value, and the result of applying the thread's facts in order.
 *
 * <p>No rule depends on a run id, event id or attempt: those belong to one execution, and a thread outlives many
 * executions. Continue-as-new passes the state on as JSON, so fields are only ever added.
 */
public record Conversation(
        @JsonUnwrapped ThreadIdentity identity,
        @JsonUnwrapped AgentBinding binding,
        @JsonUnwrapped Dialogue dialogue,
        @JsonUnwrapped CallBook callBook,
        @JsonUnwrapped Money money,
        @JsonUnwrapped ParentLink parentLink,
        @JsonUnwrapped Arrivals arrivals,
        Counters counters,
        Optional<Announcements> announcements) {
    /** The maximum number of calls executed per reply, since applying a fact visits all of them. */
    public static final int MAX_CALLS = 500;

    /** The maximum nesting depth of subagents' threads. */
    public static final int MAX_DEPTH = 5;

    /** What a thread is doing, in one word. The names are shown to users. */
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

    public Conversation {
        Objects.requireNonNull(counters, "counters");
    }

    /** Whether the call's tool is a subagent; false while the agent is not known. */
    public boolean isForSubagent(Call call) {
        return policy().map(known -> known.tools().get(call.tool()) == AgentPolicy.Executor.SUBAGENT)
                .orElse(false);
    }

    /**
     * The results of the newest reply's calls that have ended, in call order. They enter the transcript with the next
     * model call.
     */
    public List<Part.ToolResult> uncommittedResults() {
        return batchCalls().stream().flatMap(call -> call.toolResult().stream()).toList();
    }

    /** The messages that the pending summary replaces. */
    public List<Message> messagesToSummarize() {
        List<Message> messages = transcript().messages();
        int keep = policy().flatMap(AgentPolicy::summaries)
                .orElse(SummaryRule.DEFAULT)
                .keepMessages();
        return messages.subList(0, Math.max(0, Summary.cut(messages, keep)));
    }

    /** Whether the model is writing a summary instead of a reply. */
    @JsonIgnore
    public boolean isSummarizing() {
        return dialogue.isSummarizing(counters.steps());
    }

    /**
     * The number of identical calls whose outcome was known before this call ran. For a call that has not run, the
     * number so far.
     */
    public int repeatOf(Call call) {
        boolean runsLater =
                call.isOpen() && call.dispatches() == 0 && call.claim().isEmpty() && !call.wasBegun();
        return runsLater ? callBook.effectOf(call).executions() : call.repeat();
    }

    /** Whether the worker that gets a reply must judge its calls. */
    public boolean judgesReplies() {
        return hasRules()
                || policy().filter(AgentPolicy::hasChangeableTools).isPresent()
                || grants().list().stream()
                        .anyMatch(grant -> grant.terms().like().isPresent());
    }

    /** The digests of the tool's definitions that people approved for this call; empty if the tool has none. */
    public List<String> approvedDefinitions(Call call) {
        if (call.grant().isPresent()) {
            return call.grant().flatMap(grants()::find).flatMap(Grant::definition).stream()
                    .toList();
        }
        return call.isApprovedHere()
                ? call.definition().map(ToolDefinition::approved).orElse(List.of())
                : List.of();
    }

    private Announcements announced() {
        return announcements.orElse(Announcements.NONE);
    }

    /** The announcements that may be given to workers now, oldest first. */
    public List<Announcement> announcementsDue() {
        return announced().due(policy().map(known -> known.announce().size()).orElse(0));
    }

    /** Whether a worker has this announcement, and its subject has not changed since. */
    public boolean awaitsAnnouncement(int number) {
        return announced().isBegun(number);
    }

    /** The approvals that also let later calls run. */
    public Grants grants() {
        return callBook.grants().orElse(Grants.NONE);
    }

    /** Whether rules of the agent decide which calls of its tools need approval. */
    public boolean hasRules() {
        return policy().filter(AgentPolicy::hasRules).isPresent();
    }

    /** How often the tool was requested in this thread, up to and including this call of the newest reply. */
    public int requests(Call call) {
        int count = requests(call.tool());
        List<String> later = batch().subList(batch().indexOf(call.id()) + 1, batch().size());
        for (String id : later) {
            count -= calls().get(id).orElseThrow().tool().equals(call.tool()) ? 1 : 0;
        }
        return count;
    }

    /** How often the tool was requested in this thread, whether its calls ran or not. */
    public int requests(String tool) {
        int[] count = {0};
        calls().forEach((id, call) -> count[0] += call.tool().equals(tool) ? 1 : 0);
        return count[0];
    }

    /** How often the tool of each new call was requested in this thread, up to and including that call. */
    public List<Integer> requests(List<Part.ToolUse> added) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        return added.stream()
                .map(use ->
                        counts.compute(use.name(), (tool, before) -> (before == null ? requests(tool) : before) + 1))
                .toList();
    }

    /** Whether the thread waits for the verdict of the agent's rules about this call. */
    public boolean awaitsVerdict(String callId) {
        return calls().get(callId)
                .filter(call -> call.status() == Call.Status.JUDGING)
                .isPresent();
    }

    /** The fact number of the first delivery, if a message with the same id arrived before. */
    public Optional<Integer> firstDelivery(Fact.Inbound fact) {
        return fact.messageId().flatMap(id -> seen().factOf(id));
    }

    /**
     * The claim, if it was granted to this execution. A claim that was only remembered for a later call is not granted.
     */
    public Optional<Call.Claim> granted(ToolFact.ToolClaimed claimed) {
        return calls().get(claimed.callId())
                .filter(call -> call.status() == Call.Status.CLAIMED)
                .flatMap(Call::claim)
                .filter(claim -> claim.execution().equals(claimed.execution()));
    }

    /** The parent link for the subagent's thread that this step starts. */
    public Parent parentFor(Step.StartSubagent step) {
        String call = step.call().id();
        return new Parent(
                call,
                parent().map(Parent::depth).orElse(0) + 1,
                step.budget(),
                dialogue.untrusted().map(words -> words.passedOn(call)));
    }

    /** The calls of the newest reply, in the model's order. */
    public List<Call> batchCalls() {
        return callBook.batchCalls();
    }

    @JsonIgnore
    public List<Call> openCalls() {
        return callBook.openCalls();
    }

    /**
     * The calls that the log of a checkpoint shows as started and that its transcript lacks, oldest first: the program
     * that wrote the checkpoint ended in the middle of a step. It is unknown whether they took effect, and the model
     * was not told of them. Excludes calls that an identical call has replaced, and calls whose tool is known to have
     * no side effects.
     */
    public List<Call> callsAheadOfTranscript() {
        List<Call> ahead = new ArrayList<>();
        effects()
                .ifPresent(log -> log.known()
                        .forEach((key, effect) -> effect.remembered().stream()
                                .filter(started -> started.claim().isElsewhere())
                                .flatMap(started -> calls().get(started.callId()).stream())
                                .filter(call -> call.status() == Call.Status.LOST
                                        && call.digest().isEmpty())
                                .forEach(ahead::add)));
        ahead.sort(Comparator.comparing(Call::since).thenComparing(Call::id));
        return List.copyOf(ahead);
    }

    @JsonIgnore
    public List<Call> questions() {
        return batchCalls().stream()
                .filter(call -> call.status() == Call.Status.ASKING)
                .toList();
    }

    /** The calls that only people can continue, in call order. */
    @JsonIgnore
    public List<Call> waitingCalls() {
        return batchCalls().stream().filter(Call::waitsForPerson).toList();
    }

    /** Whether a subagent's thread is executing one of the open calls. */
    public boolean hasSubagents() {
        return openCalls().stream().anyMatch(call -> call.status() == Call.Status.DELEGATED);
    }

    /**
     * The calls with an unknown outcome that only a checkpoint shows as started. An identical call of this thread takes
     * their place.
     */
    public List<Call> startedElsewhere() {
        List<Call> found = new ArrayList<>();
        effects()
                .map(EffectLog::known)
                .ifPresent(known -> known.forEach((key, effect) -> effect.remembered().stream()
                        .filter(remembered -> remembered.claim().isElsewhere())
                        .flatMap(remembered -> calls().get(remembered.callId()).stream())
                        .forEach(found::add)));
        return Collections.unmodifiableList(found);
    }

    /** The requests that wait for a person, of this thread and its subagents, in call order. */
    public List<PendingItem> asks() {
        Optional<UntrustedWords> read = untrusted();
        return callBook.asks(binding).stream()
                .map(ask -> callBook.calls().contains(ask.callId()) ? ask.after(read) : ask)
                .toList();
    }

    /**
     * What brought untrusted words into the conversation. Empty if that is not known, because the agent does not
     * distinguish such words.
     */
    public Optional<UntrustedWords> untrusted() {
        return policy().flatMap(AgentPolicy::untrusted)
                .map(rule -> dialogue.untrusted().orElse(UntrustedWords.NONE));
    }

    /** The requests that wait for a person, with the id of this thread. */
    public List<PendingItem> pending(String thread) {
        return asks().stream().map(ask -> ask.in(thread)).toList();
    }

    /** The id that idempotency keys of this thread's calls are derived from, if it is not the thread's own id. */
    @JsonIgnore
    public Optional<String> session() {
        return identity.origin().flatMap(Origin::session);
    }

    /** The agent's data besides the transcript. */
    @JsonIgnore
    public Workspace workspace() {
        return callBook.workspace().orElse(Workspace.EMPTY);
    }

    /** The whole result of this call, if the model was shown a part of it, and the thread still has the rest. */
    public Optional<String> wholeResult(String callId) {
        return LongResult.find(callBook.longResults(), callId).map(LongResult::text);
    }

    /**
     * The whole of this result, if it was cut. A call may have a long result of which the model was shown nothing: one
     * that came after the call was cancelled.
     */
    public Optional<String> wholeResult(Part.ToolResult told) {
        return wholeResult(told.toolUseId()).filter(whole -> LongResult.isCut(told.toolUseId(), told.content()));
    }

    @JsonIgnore
    public boolean isInterrupted() {
        return turn().isRunning() && Call.allWaitForPeople(openCalls());
    }

    @JsonIgnore
    public boolean isBlank() {
        return dialogue.isBlank();
    }

    /**
     * Whether no turn is running, or the turn waits for people only. While the agent is not resolved, a running turn is
     * not settled: the agent may not exist, and calls from a checkpoint depend on it.
     */
    @JsonIgnore
    public boolean isSettled() {
        return !turn().isRunning() || (isInterrupted() && policy().isPresent());
    }

    /** Whether there is a turn, and it has ended or waits for people only. */
    @JsonIgnore
    public boolean hasOutcome() {
        return turn().status() != Turn.Status.NONE && isSettled();
    }

    /**
     * Whether the thread is closing or closed, and its agent's definition was requested but has not arrived. At the end
     * of a thread, this means that the agent was not found, and that the thread has done nothing.
     */
    public boolean lacksAgent() {
        return life() == ThreadIdentity.Life.CLOSING && binding.isResolving();
    }

    /** Whether no activity and no subagent is running, so that the thread can continue as new. */
    @JsonIgnore
    public boolean isBetweenSteps() {
        return !modelCalled() && !binding.isResolving() && batchCalls().stream().noneMatch(Call::isInFlight);
    }

    /** What a subagent's thread reports to its parent in this state. */
    public SubagentProgress progress() {
        boolean isTold = !turn().isRunning() && turn().number() > 0 && parent().isPresent() && !isSubagent();
        Optional<TurnEnd> ended = isTold
                ? Optional.of(new TurnEnd(turn().number(), turn().status().wireName(), turn().text(), turn().problem()))
                : Optional.empty();
        return SubagentProgress.of(asks(), isInterrupted(), spent()).withEnded(ended);
    }

    /** Whether a thread is above this one. What waits for people here is then shown in the root thread. */
    @JsonIgnore
    public boolean isSubagent() {
        return parent().map(Parent::isThread).orElse(false);
    }

    @JsonIgnore
    public Phase phase() {
        if (!turn().isRunning()) {
            return Phase.IDLE;
        }
        if (policy().isEmpty()) {
            return Phase.STARTING;
        }
        if (isInterrupted()) {
            return Phase.WAITING;
        }
        return openCalls().isEmpty() ? Phase.THINKING : Phase.ACTING;
    }

    /**
     * The maximum number of model calls per turn; empty if the thread has no limit of its own and its agent is not
     * known.
     */
    @JsonIgnore
    public Optional<Integer> iterationLimit() {
        return money.iterationLimit(policy());
    }

    /** What the thread has spent over its whole life, including failed model calls. */
    @JsonIgnore
    public Spent spent() {
        return money.spent();
    }

    /** What the thread may spend over its whole life. */
    @JsonIgnore
    public Budget limits() {
        return money.limits(policy(), parent());
    }

    public boolean awaitsAgent() {
        return policy().isEmpty() && life() != ThreadIdentity.Life.CANCELLED;
    }

    /** Whether the thread waits for the reply or summary of this model call. */
    public boolean awaitsModel(int step) {
        return modelCalled() && counters.steps() == step;
    }

    /** Whether the thread waits for the outcome of this dispatch. */
    public boolean awaitsTool(String callId, int dispatch) {
        return awaits(callId, dispatch, Call.Status.DISPATCHED) || awaits(callId, dispatch, Call.Status.CLAIMED);
    }

    /** Whether the thread waits for the task of this call's server. */
    public boolean awaitsTask(String callId, int dispatch) {
        return awaits(callId, dispatch, Call.Status.FOLLOWING);
    }

    /** Whether the thread waits for the check of this dispatch. */
    public boolean awaitsVerify(String callId, int dispatch) {
        return awaits(callId, dispatch, Call.Status.VERIFYING);
    }

    private boolean awaits(String callId, int dispatch, Call.Status status) {
        return calls().get(callId)
                .filter(call -> call.status() == status && call.dispatches() == dispatch)
                .isPresent();
    }

    /** Whether the thread waits for the subagent that executes this call. */
    public boolean awaitsSubagent(String callId) {
        return calls().get(callId)
                .filter(call -> call.status() == Call.Status.DELEGATED)
                .isPresent();
    }

    public Conversation withTranscript(Transcript other) {
        return new Conversation(
                identity,
                binding,
                dialogue.with(other),
                callBook,
                money,
                parentLink,
                arrivals,
                counters,
                announcements);
    }

    /**
     * The number of messages when the current prefix of the prompt began. Reasoning of older messages may be bound to
     * another prompt.
     */
    @JsonIgnore
    public int boundFrom() {
        return dialogue.boundFrom();
    }

    /**
     * The number of messages whose reasoning a service refused to read.
     *
     * @param model as named in {@link dev.waymark.conversation.message.Reply#model}; empty for the agent's own model
     */
    public int unreadableBefore(String model) {
        return dialogue.unreadable().getOrDefault(model, 0);
    }

    /** The schema of the turn, if every request of the thread so far had it. */
    @JsonIgnore
    public Optional<Json> heldSchema() {
        return dialogue.heldSchema().filter(held -> turn().schema().equals(Optional.of(held)));
    }

    public int rules() {
        return identity.rules();
    }

    public boolean once() {
        return identity.once();
    }

    public ThreadIdentity.Life life() {
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

    public Optional<AgentPolicy> policy() {
        return binding.policy();
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

    /**
     * The turn that was running before this fact, as it ended, if the fact has started the next one. If the next one
     * has ended too, the state no longer contains that turn, and its status is derived: only a replaced conversation or
     * a queued message starts a turn in the fact that ends another one.
     */
    public Turn ended(Turn running, Fact fact) {
        return ended().filter(turn -> turn.number() == running.number())
                .orElseGet(() -> running.ended(
                        fact instanceof PersonFact.UserSpoke ? Turn.Status.STOPPED : Turn.Status.COMPLETE,
                        "",
                        Optional.empty()));
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
