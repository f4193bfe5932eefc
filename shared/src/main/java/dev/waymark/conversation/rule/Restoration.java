package dev.waymark.conversation.rule;

import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.call.FromFile;
import dev.waymark.conversation.call.RestoredEffects;
import dev.waymark.conversation.call.ToolTexts;
import dev.waymark.conversation.decision.CallApproval;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.state.Origin;
import dev.waymark.conversation.state.RestoredTranscript;
import dev.waymark.conversation.state.RestoredTurn;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.state.Workspace;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import dev.waymark.conversation.value.WordSource;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Builds a conversation from the content of a checkpoint, message by message.
 *
 * <p>A call without a result is open. It is unknown whether it ran, unless the checkpoint says so: {@link #pending} is
 * the call that waits for a person, and the calls of an {@link #untouched} reply were never started. Messages that
 * people sent after an open call are queued. Not thread-safe.
 *
 * <p>Throws an {@link IllegalArgumentException} if the content violates the rules of transcripts.
 */
public final class Restoration {
    /** This tool only asks a person, so repeating its calls is harmless with any agent. */
    private static final String QUESTION_TOOL = "ask_user";

    private final Instant createdAt;
    private final boolean repairing;

    private final RestoredTranscript transcript = new RestoredTranscript();
    private PersistentMap<Call> calls = PersistentMap.empty();
    private final RestoredEffects effects = new RestoredEffects();
    private final List<Queued> queue = new ArrayList<>();
    private List<Part.ToolUse> batch = List.of();
    private Instant batchAt;
    private final Map<String, Answer> answers = new LinkedHashMap<>();
    /** The calls of the batch without an answer. This and {@code answers} are maps, since there may be many. */
    private final Map<String, Part.ToolUse> unanswered = new LinkedHashMap<>();

    private final Map<String, Json> ran = new LinkedHashMap<>();
    private final Map<String, Instant> ends = new LinkedHashMap<>();

    private String agent = "";
    private Optional<String> pending = Optional.empty();
    private boolean untouched;
    private boolean paused;
    private boolean allAsked;
    private final Set<String> asked = new LinkedHashSet<>();
    private final Set<String> begun = new LinkedHashSet<>();
    private String prompt = "";
    private final Set<String> approved = new LinkedHashSet<>();
    private final Set<String> awaiting = new LinkedHashSet<>();
    private final RestoredTurn turn;
    private int steps;
    private int versions;
    private Optional<Usd> cost = Optional.empty();
    private Optional<Json> context = Optional.empty();
    private Instant updatedAt;
    private Workspace workspace = Workspace.EMPTY;
    private Optional<Json> extras = Optional.empty();

    private record Answer(Part.ToolResult result, Optional<String> id, Instant at) {}

    Restoration(Instant createdAt, boolean repairing) {
        this.createdAt = createdAt;
        this.batchAt = createdAt;
        this.updatedAt = createdAt;
        this.turn = new RestoredTurn(createdAt);
        this.repairing = repairing;
    }

    public Restoration say(Message message, Optional<String> id, Instant at) {
        if (message.role() == Role.ASSISTANT) {
            reply(message, id, at);
            return this;
        }
        if (!message.toolUses().isEmpty()) {
            throw new IllegalArgumentException("a user message contains a call");
        }
        boolean saidBefore = false;
        List<Part> said = new ArrayList<>();
        for (Part part : message.content()) {
            if (part instanceof Part.ToolResult result) {
                if (saidBefore) {
                    throw new IllegalArgumentException("a message has text before its results");
                }
                answer(result, id, at);
            } else {
                saidBefore = true;
                said.add(part);
            }
        }
        if (!said.isEmpty()) {
            speak(new Message(Role.USER, said), message.toolResults().isEmpty() ? id : Optional.empty(), at);
        }
        return this;
    }

    private void reply(Message message, Optional<String> id, Instant at) {
        if (!message.toolResults().isEmpty()) {
            throw new IllegalArgumentException("an assistant message contains a result");
        }
        closeBatch();
        addQueued();
        transcript.add(message, id, at);
        for (Part.ToolUse use : message.toolUses()) {
            if (use.id().isEmpty()) {
                throw new IllegalArgumentException("a call without an id");
            }
            if (use.name().isEmpty()) {
                throw new IllegalArgumentException("a call without a tool: " + use.id());
            }
            if (calls.contains(use.id())) {
                throw new IllegalArgumentException("call id used twice: " + use.id());
            }
            Json args = ran.getOrDefault(use.id(), use.input());
            calls = calls.with(use.id(), Call.issued(new Part.ToolUse(use.id(), use.name(), args), turn.number(), at));
        }
        batch = message.toolUses();
        batch.forEach(use -> unanswered.put(use.id(), use));
        batchAt = at;
    }

    private void speak(Message message, Optional<String> id, Instant at) {
        if (unanswered.isEmpty()) {
            closeBatch();
            addQueued();
            transcript.add(message, id, at);
        } else {
            queue.add(new Queued(Optional.empty(), message, at, Optional.empty(), true));
        }
    }

    private void addQueued() {
        for (Queued late : queue) {
            transcript.add(late.message(), late.id(), late.at());
        }
        queue.clear();
    }

    private void answer(Part.ToolResult result, Optional<String> id, Instant at) {
        String callId = result.toolUseId();
        if (!unanswered.containsKey(callId) && !answers.containsKey(callId)) {
            throw new IllegalArgumentException(
                    calls.contains(callId)
                            ? "a result out of place, or a second one: " + callId
                            : "a result without a call: " + callId);
        }
        if (!queue.isEmpty() && !repairing) {
            throw new IllegalArgumentException("a message between a call and its result: " + callId);
        }
        if (unanswered.remove(callId) == null) {
            throw new IllegalArgumentException("a second result for a call: " + callId);
        }
        answers.put(callId, new Answer(result, id, at));
    }

    /** Adds a call's result from a source other than the transcript, unless the call already has a result. */
    public Restoration answerIfOpen(String callId, String text, boolean isError, Instant at) {
        if (unanswered.remove(callId) != null) {
            answers.put(callId, new Answer(new Part.ToolResult(callId, text, isError), Optional.empty(), at));
        }
        return this;
    }

    /**
     * Sets the arguments that a call runs with, which an approval may have changed. Call it before the reply is added.
     */
    public Restoration ranWith(String callId, Json args) {
        ran.put(callId, args);
        return this;
    }

    /** Sets when a call ended, for sources that are more precise than the transcript. */
    public Restoration endedAt(String callId, Instant at) {
        ends.put(callId, at);
        return this;
    }

    /** Sets how many identical calls had run before this one, if its idempotency key shows that. */
    public Restoration repeating(String callId, int earlier) {
        effects.repeating(callId, earlier);
        return this;
    }

    private void closeBatch() {
        if (batch.isEmpty()) {
            return;
        }
        List<Part.ToolResult> results = new ArrayList<>();
        Optional<String> id = Optional.empty();
        Instant at = batchAt;
        for (Part.ToolUse use : batch) {
            Answer answer = answers.get(use.id());
            if (answer == null) {
                if (!repairing) {
                    throw new IllegalArgumentException("a call without a result: " + use.id());
                }
                String text = ToolTexts.durability(use.name(), use.id(), Optional.empty(), Optional.empty());
                answer = new Answer(new Part.ToolResult(use.id(), text, true), Optional.empty(), batchAt);
                // The text may have to be replaced once the agent's tools are known.
                calls = calls.with(
                        use.id(), calls.get(use.id()).orElseThrow().claimedLater(Call.Claim.elsewhere(batchAt)));
            }
            results.add(answer.result());
            id = id.or(answer::id);
            at = answer.at().isAfter(at) ? answer.at() : at;
            end(use, answer, false);
        }
        transcript.add(Message.results(results), id, at);
        batch = List.of();
        answers.clear();
        unanswered.clear();
    }

    private void end(Part.ToolUse use, Answer answer, boolean uncommitted) {
        String text = answer.result().content();
        boolean isError = answer.result().isError();
        Call.Status how =
                !isError ? Call.Status.COMPLETED : ToolTexts.isDurability(text) ? Call.Status.LOST : Call.Status.FAILED;
        Call call = calls.get(use.id()).orElseThrow();
        Call ended = effects.counted(call).ended(how, text, answer.at());
        calls = calls.with(use.id(), uncommitted ? ended : ended.committed());
        effects.ended(use.id(), use.name(), call.args(), text, !isError);
    }

    /**
     * Records a call with an unknown outcome, unless the transcript has it. An identical call must not run without a
     * check.
     */
    public Restoration rememberIssued(String callId, String tool, Json args, Instant startedAt) {
        if (remembered(callId, tool, args, Call.Status.LOST, startedAt)) {
            effects.started(callId, tool, args, startedAt);
        }
        return this;
    }

    /** Records an ended call, unless the transcript contains the call. The result is empty if it was deleted. */
    public Restoration rememberEnded(
            String callId, String tool, Json args, Optional<String> result, boolean succeeded, Instant startedAt) {
        Call.Status how = succeeded ? Call.Status.COMPLETED : Call.Status.FAILED;
        if (remembered(callId, tool, args, how, startedAt)) {
            if (result.isPresent()) {
                effects.ended(callId, tool, args, result.get(), succeeded);
            } else if (succeeded) {
                effects.executed(tool, args);
            }
        }
        return this;
    }

    private boolean remembered(String callId, String tool, Json args, Call.Status how, Instant startedAt) {
        if (calls.contains(callId)) {
            return false;
        }
        Part.ToolUse use = new Part.ToolUse(callId, tool, args);
        calls = calls.with(
                callId, Call.issued(use, 0, startedAt).ended(how, "", startedAt).committed());
        return true;
    }

    public Restoration agent(String name) {
        agent = name;
        return this;
    }

    /** Sets the call that waits for a person; no other call is running. */
    public Restoration pending(String callId) {
        pending = Optional.of(callId);
        return this;
    }

    /** Marks the turn as waiting for people only. Unless a call is {@link #pending}, the first open call waits. */
    public Restoration paused() {
        paused = true;
        return this;
    }

    /** Marks the turn as waiting for people only, and every open call as executed up to its question. */
    public Restoration allAsked() {
        allAsked = true;
        return this;
    }

    /** Marks a call as executed up to its question. Has an effect only if a call is {@link #pending}. */
    public Restoration asked(String callId) {
        asked.add(callId);
        return this;
    }

    /** Sets the question of the call that waits for a person. */
    public Restoration prompt(String question) {
        prompt = question;
        return this;
    }

    /** Marks an open call as approved, so that it may have run. */
    public Restoration approved(String callId) {
        approved.add(callId);
        return this;
    }

    /** Marks an open call as waiting for approval: it has not run, and runs only after a decision, with any tool. */
    public Restoration awaiting(String callId) {
        awaiting.add(callId);
        return this;
    }

    /** Marks a call as executed with an unknown outcome: only a check or a person can decide that it runs again. */
    public Restoration begun(String callId) {
        begun.add(callId);
        return this;
    }

    /** Marks every call that has no result so far as {@link #begun}. */
    public Restoration allBegun() {
        unanswered.keySet().forEach(this::begun);
        return this;
    }

    /** Marks the open calls as never started. */
    public Restoration untouched() {
        untouched = true;
        return this;
    }

    public Restoration context(Json carried) {
        context = carried.equals(Json.EMPTY_OBJECT) ? Optional.empty() : Optional.of(carried);
        return this;
    }

    /** Sets the cost of the thread up to the checkpoint. */
    public Restoration cost(double dollars) {
        cost = dollars > 0 ? Optional.of(Usd.of(BigDecimal.valueOf(dollars))) : Optional.empty();
        return this;
    }

    public Restoration turn(int number, int modelCalls, Usage used, Instant began) {
        turn.begun(number, modelCalls, used, began);
        return this;
    }

    public Restoration counted(int modelCalls, int shownVersions) {
        steps = modelCalls;
        versions = shownVersions;
        return this;
    }

    /** Sets the turn's status, its final reply, and why it ended if it failed. */
    public Restoration standing(Turn.Status how, String text, String reason) {
        turn.standing(how, text, reason);
        return this;
    }

    /** Sets the final reply as JSON. */
    public Restoration structured(Json value) {
        turn.structured(value);
        return this;
    }

    public Restoration workspace(Workspace workspace) {
        this.workspace = workspace;
        return this;
    }

    public Restoration extras(Json others) {
        extras = Optional.of(others);
        return this;
    }

    public boolean hasCall(String id) {
        return calls.contains(id);
    }

    /** The call with this id, if it belongs to the newest reply and has no result. */
    public Optional<Part.ToolUse> openCall(String id) {
        return Optional.ofNullable(unanswered.get(id));
    }

    /** The calls of the newest reply without a result, in call order. */
    public List<Part.ToolUse> openCalls() {
        return List.copyOf(unanswered.values());
    }

    /** The request of a call, open or not, with the arguments that the call ran or will run with. */
    public Optional<Part.ToolUse> toolUse(String id) {
        return calls.get(id).map(call -> new Part.ToolUse(id, call.tool(), call.args()));
    }

    /** The number of calls that are not open. */
    public int answeredCalls() {
        return calls.size() - unanswered.size();
    }

    /** The text of the last message if it is a final reply of the assistant, otherwise an empty text. */
    public String lastWords() {
        return transcript.transcript().finalReply().map(Message::text).orElse("");
    }

    public Restoration updated(Instant at) {
        updatedAt = at;
        return this;
    }

    public Conversation restore() {
        List<String> open = new ArrayList<>();
        if (unanswered.isEmpty()) {
            closeBatch();
        }
        for (Part.ToolUse use : batch) {
            Answer answer = answers.get(use.id());
            if (answer == null) {
                open.add(use.id());
            } else {
                end(use, answer, true);
            }
        }
        if (!repairing && !open.isEmpty() && !queue.isEmpty()) {
            throw new IllegalArgumentException("a message follows a call without a result: " + open.get(0));
        }
        if (pending.isPresent() && !open.contains(pending.get())) {
            throw new IllegalArgumentException("the pending call is not open: " + pending.get());
        }
        if (paused && !open.isEmpty()) {
            pending = pending.or(() -> Optional.of(open.get(0)));
        }
        ends.forEach((id, at) -> calls.get(id)
                .filter(call -> !call.isOpen())
                .ifPresent(call -> calls = calls.with(id, call.endedEarlier(at))));
        open.forEach(id -> calls = calls.with(
                id, standing(calls.get(id).orElseThrow(), id.equals(pending.orElse(open.get(0))) ? prompt : "")));
        calls = effects.countedByKeys(calls);
        Turn now = turn.of(transcript.transcript(), !open.isEmpty());
        boolean known = now.number() > 0;
        Draft draft = Draft.blank(ThreadIdentity.RULES, agent, createdAt);
        draft.replaceTranscript(transcript.transcript());
        draft.dialogue.queue = queue;
        UntrustedRules.read(draft, WordSource.CONVERSATION);
        draft.dialogue.turn = now;
        draft.dialogue.ended = known && !now.isRunning() ? Optional.of(now) : Optional.empty();
        draft.book.batch = batch.stream().map(Part.ToolUse::id).toList();
        draft.book.calls = calls;
        draft.book.effects = effects.log();
        draft.book.workspace = workspace;
        draft.money.usage = turn.usage();
        draft.money.cost = cost;
        draft.counters.steps = steps;
        draft.counters.versions = versions;
        draft.counters.messages = transcript.messages();
        draft.identity.origin = extras.map(values -> new Origin(Optional.empty(), Optional.of(values)));
        draft.binding.context = context;
        return draft.state(updatedAt);
    }

    private Call standing(Call call, String told) {
        Object question = call.args().field("question");
        String words = told.isEmpty() && question instanceof String text ? text : told;
        if (call.tool().equals(QUESTION_TOOL) && question instanceof String text) {
            return call.asking(text, call.since());
        }
        if (awaiting.contains(call.id())) {
            return call.fromFile(Optional.of(new FromFile(false, false))).awaiting(Optional.empty(), call.since());
        }
        if (begun.contains(call.id())) {
            return effects.counted(decided(call)).claimed(Call.Claim.elsewhere(call.since()), call.since());
        }
        if (untouched) {
            return call;
        }
        if (allAsked || (pending.isPresent() && asked.contains(call.id()))) {
            return asking(decided(call), words);
        }
        if (pending.filter(call.id()::equals).isPresent()) {
            return call.asking(words, call.since());
        }
        return effects.counted(decided(call))
                .begunElsewhere(pending.isEmpty() ? Call.Status.CLAIMED : Call.Status.UNSETTLED);
    }

    /**
     * A copy of a call that has run and asks a question. The claim distinguishes it from a call that waits for
     * approval.
     */
    private Call asking(Call call, String words) {
        Call counted = effects.counted(call);
        effects.executed(call.tool(), call.args());
        return counted.claimed(Call.Claim.elsewhere(call.since()), call.since()).asking(words, call.since());
    }

    private Call decided(Call call) {
        if (!approved.contains(call.id())) {
            return call;
        }
        boolean edited = batch.stream()
                .noneMatch(use -> use.id().equals(call.id()) && use.input().equals(call.args()));
        CallApproval decision = CallApproval.recorded(edited, call.since());
        return call.decided(decision, call.args(), call.since());
    }
}
