package dev.waymark.conversation;

import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Part;
import dev.waymark.conversation.message.Queued;
import dev.waymark.conversation.message.Role;
import dev.waymark.conversation.message.Transcript;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.PersistentMap;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.conversation.value.Usage;
import dev.waymark.conversation.value.Usd;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Builds a conversation from the content of a checkpoint, message by message.
 *
 * <p>A call without a result is open. It is unknown whether it ran, unless the checkpoint says so: {@link #pending} is
 * the call that waits for a person, and the calls of an {@link #untouched} reply were never started. Messages that
 * people sent after an open call are queued. Not thread-safe.
 *
 * <p>A violation of the transcript rules is an {@link IllegalArgumentException} that names the place.
 */
public final class Restoration {
    /** It only asks a person, so repeating it is harmless with every agent. */
    private static final String QUESTION_TOOL = "ask_user";

    private static final Pattern OWN_ID = Pattern.compile("m[1-9]\\d{0,8}");
    private static final String REPLAY = "[idempotent replay of ";

    private final Instant createdAt;
    private final boolean repairing;

    private Transcript transcript = Transcript.EMPTY;
    private PersistentMap<Call> calls = PersistentMap.empty();
    private EffectLog effects = EffectLog.NONE;
    private final List<Queued> queue = new ArrayList<>();
    private List<Part.ToolUse> batch = List.of();
    private Instant batchAt;
    private final Map<String, Answer> answers = new LinkedHashMap<>();
    /** The calls of the batch without an answer. Maps, since both may be numerous. */
    private final Map<String, Part.ToolUse> unanswered = new LinkedHashMap<>();

    private final Map<String, Json> ran = new LinkedHashMap<>();
    private final Map<String, Integer> repeats = new LinkedHashMap<>();
    private final Map<String, Instant> ends = new LinkedHashMap<>();
    private int messages;

    private String agent = "";
    private Optional<String> pending = Optional.empty();
    private boolean untouched;
    private boolean paused;
    private boolean allAsked;
    private final Set<String> asked = new LinkedHashSet<>();
    private final Set<String> begun = new LinkedHashSet<>();
    private String prompt = "";
    private final Set<String> approved = new LinkedHashSet<>();
    private int iterations;
    private int steps;
    private int versions;
    private int turn = 1;
    private Usage usage = Usage.NONE;
    private Optional<Usd> cost = Optional.empty();
    private Optional<Json> context = Optional.empty();
    private Instant startedAt;
    private Instant updatedAt;
    private Optional<Turn.Status> status = Optional.empty();
    private String words = "";
    private String why = "";
    private Optional<Json> structured = Optional.empty();
    private Workspace workspace = Workspace.EMPTY;
    private Optional<Json> extras = Optional.empty();

    private record Answer(Part.ToolResult result, Optional<String> id, Instant at) {}

    /** @param repairing whether calls without a result get one that says so, instead of being rejected */
    public Restoration(Instant createdAt, boolean repairing) {
        this.createdAt = createdAt;
        this.batchAt = createdAt;
        this.startedAt = createdAt;
        this.updatedAt = createdAt;
        this.repairing = repairing;
    }

    public Restoration say(Message message, Optional<String> id, Instant at) {
        if (message.role() == Role.ASSISTANT) {
            reply(message, id, at);
            return this;
        }
        if (!message.toolUses().isEmpty()) {
            throw new IllegalArgumentException("a call on the user's side");
        }
        boolean saidBefore = false;
        List<Part> said = new ArrayList<>();
        for (Part part : message.content()) {
            if (part instanceof Part.ToolResult result) {
                if (saidBefore) {
                    throw new IllegalArgumentException("something is said before the results");
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
            throw new IllegalArgumentException("a result on the assistant's side");
        }
        closeBatch();
        for (Queued late : queue) {
            add(late.message(), late.id(), late.at());
        }
        queue.clear();
        add(message, id, at);
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
            calls = calls.with(use.id(), Call.issued(new Part.ToolUse(use.id(), use.name(), args), turn, at));
        }
        batch = message.toolUses();
        batch.forEach(use -> unanswered.put(use.id(), use));
        batchAt = at;
    }

    private void speak(Message message, Optional<String> id, Instant at) {
        if (unanswered.isEmpty()) {
            closeBatch();
            add(message, id, at);
        } else {
            queue.add(new Queued(Optional.empty(), message, at));
        }
    }

    private void answer(Part.ToolResult result, Optional<String> id, Instant at) {
        String callId = result.toolUseId();
        if (!unanswered.containsKey(callId) && !answers.containsKey(callId)) {
            throw new IllegalArgumentException(
                    calls.contains(callId)
                            ? "a result out of place, or a second one: " + callId
                            : "a result of no call: " + callId);
        }
        if (!queue.isEmpty() && !repairing) {
            throw new IllegalArgumentException("a message between a call and its result: " + callId);
        }
        if (unanswered.remove(callId) == null) {
            throw new IllegalArgumentException("call answered twice: " + callId);
        }
        answers.put(callId, new Answer(result, id, at));
    }

    /** Adds a call's result from another source than the transcript, unless the call has one. */
    public Restoration answerIfOpen(String callId, String text, boolean isError, Instant at) {
        if (unanswered.remove(callId) != null) {
            answers.put(callId, new Answer(new Part.ToolResult(callId, text, isError), Optional.empty(), at));
        }
        return this;
    }

    /**
     * The arguments that a call ran or will run with; after an approval they may differ from the reply. Must be called
     * before the reply.
     */
    public Restoration ranWith(String callId, Json args) {
        ran.put(callId, args);
        return this;
    }

    /** When a call ended, if that is known more precisely than from the transcript. */
    public Restoration endedAt(String callId, Instant at) {
        ends.put(callId, at);
        return this;
    }

    /** How many identical calls had run before this one, if its idempotency key tells. */
    public Restoration repeating(String callId, int earlier) {
        repeats.put(callId, earlier);
        return this;
    }

    /** Counts from idempotency keys take precedence over those derived from results. */
    private void countByKeys() {
        Map<String, List<Call>> same = new LinkedHashMap<>();
        repeats.forEach((id, earlier) -> {
            Call call = calls.get(id).orElseThrow().repeating(earlier);
            calls = calls.with(id, call);
            same.computeIfAbsent(EffectLog.key(call.tool(), call.argsDigest()), key -> new ArrayList<>())
                    .add(call);
        });
        same.forEach((key, calls) -> {
            int newest = calls.stream().mapToInt(Call::repeat).max().orElse(0);
            boolean oneIsOpen = calls.stream().anyMatch(Call::isOpen);
            // Calls that are safe to retry all have the first one's key.
            boolean uncounted = newest == 0 && calls.size() > 1;
            int executions = oneIsOpen || uncounted ? newest : newest + 1;
            EffectLog.Effect effect = effects.of(key);
            if (effect.executions() > 0 || oneIsOpen) {
                effects = effects.with(key, effect.executed(executions));
            }
        });
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
                // Whether the text is true is only known with the agent's tools.
                calls = calls.with(
                        use.id(), calls.get(use.id()).orElseThrow().claimedLater(Call.Claim.elsewhere(batchAt)));
            }
            results.add(answer.result());
            id = id.or(answer::id);
            at = answer.at().isAfter(at) ? answer.at() : at;
            end(use, answer, false);
        }
        add(Message.results(results), id, at);
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
        String key = EffectLog.key(use.name(), call.argsDigest());
        Call ended = call.repeating(effects.of(key).executions()).ended(how, text, answer.at());
        calls = calls.with(use.id(), uncommitted ? ended : ended.committed());
        took(use.id(), use.name(), call.args(), text, !isError);
    }

    private void took(String callId, String tool, Json args, String text, boolean succeeded) {
        boolean ran = succeeded ? !text.startsWith(REPLAY) : text.startsWith(ToolTexts.failure(""));
        if (ran) {
            String key = EffectLog.key(tool, Sha256.hex(args.canonical()));
            EffectLog.Effect effect = effects.of(key).executed();
            effects = effects.with(key, succeeded ? effect.succeeded(callId, text) : effect);
        }
    }

    /** A call with an unknown outcome, which may be missing in the transcript. It must not simply be repeated. */
    public Restoration rememberIssued(String callId, String tool, Json args, Instant startedAt) {
        if (remembered(callId, tool, args, Call.Status.LOST, startedAt)) {
            String key = EffectLog.key(tool, Sha256.hex(args.canonical()));
            Call.Claim claim = Call.Claim.elsewhere(startedAt);
            effects = effects.with(key, effects.of(key).remembering(new EffectLog.Remembered(callId, 0, claim)));
        }
        return this;
    }

    /** An ended call, which may be missing in the transcript. Its result may have been deleted. */
    public Restoration rememberEnded(
            String callId, String tool, Json args, Optional<String> result, boolean succeeded, Instant startedAt) {
        Call.Status how = succeeded ? Call.Status.COMPLETED : Call.Status.FAILED;
        if (remembered(callId, tool, args, how, startedAt)) {
            if (result.isPresent()) {
                took(callId, tool, args, result.get(), succeeded);
            } else if (succeeded) {
                String key = EffectLog.key(tool, Sha256.hex(args.canonical()));
                effects = effects.with(key, effects.of(key).executed());
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

    private void add(Message message, Optional<String> id, Instant at) {
        String own = id.filter(given -> !given.isEmpty()).orElse("m" + (messages + 1));
        // New ids continue after existing ones and never repeat them. Existing ones are not in order: a summary is
        // newer than the messages after it.
        messages =
                OWN_ID.matcher(own).matches() ? Math.max(messages, Integer.parseInt(own.substring(1))) : messages + 1;
        transcript = transcript.plus(new Transcript.Entry(own, at, Optional.empty(), message));
    }

    public Restoration agent(String name) {
        agent = name;
        return this;
    }

    /** The call that waits for a person; nothing else is running. */
    public Restoration pending(String callId) {
        pending = Optional.of(callId);
        return this;
    }

    /** The turn waits for people only, starting with the first open call. */
    public Restoration paused() {
        paused = true;
        return this;
    }

    /** The turn waits for people only, and every open call has run up to its question. */
    public Restoration allAsked() {
        allAsked = true;
        return this;
    }

    /** The call has run up to its question, if the turn waits for people only. */
    public Restoration asked(String callId) {
        asked.add(callId);
        return this;
    }

    /** The question of the call that waits for a person. */
    public Restoration prompt(String question) {
        prompt = question;
        return this;
    }

    /** The open call was approved, so it may have run. */
    public Restoration approved(String callId) {
        approved.add(callId);
        return this;
    }

    /** The call was executed with an unknown outcome, and must never be executed again. */
    public Restoration begun(String callId) {
        begun.add(callId);
        return this;
    }

    /** Marks all calls that are open at the end as {@link #begun}. */
    public Restoration allBegun() {
        unanswered.keySet().forEach(this::begun);
        return this;
    }

    /** None of the open calls was started. */
    public Restoration untouched() {
        untouched = true;
        return this;
    }

    public Restoration context(Json carried) {
        context = carried.equals(Json.EMPTY_OBJECT) ? Optional.empty() : Optional.of(carried);
        return this;
    }

    /** The cost of the thread before this checkpoint. */
    public Restoration cost(double dollars) {
        cost = dollars > 0 ? Optional.of(Usd.of(BigDecimal.valueOf(dollars))) : Optional.empty();
        return this;
    }

    public Restoration turn(int number, int modelCalls, Usage used, Instant began) {
        turn = Math.max(1, number);
        iterations = modelCalls;
        usage = used;
        startedAt = began;
        return this;
    }

    public Restoration counted(int modelCalls, int shownVersions) {
        steps = modelCalls;
        versions = shownVersions;
        return this;
    }

    /** The turn's status, its final reply, and why it ended if it failed. */
    public Restoration standing(Turn.Status how, String text, String reason) {
        status = Optional.of(how);
        words = text;
        why = reason;
        return this;
    }

    /** The final reply as JSON. */
    public Restoration structured(Json value) {
        structured = Optional.of(value);
        return this;
    }

    public Restoration desk(Workspace desk) {
        workspace = desk;
        return this;
    }

    public Restoration extras(Json others) {
        extras = Optional.of(others);
        return this;
    }

    public boolean hasCall(String id) {
        return calls.contains(id);
    }

    /** A call of the newest reply without a result. */
    public Optional<Part.ToolUse> openCall(String id) {
        return Optional.ofNullable(unanswered.get(id));
    }

    /** The calls of the newest reply without a result, in call order. */
    public List<Part.ToolUse> openCalls() {
        return List.copyOf(unanswered.values());
    }

    /** The request of a call, open or not. */
    public Optional<Part.ToolUse> toolUse(String id) {
        return calls.get(id).map(call -> new Part.ToolUse(id, call.tool(), call.args()));
    }

    /** The number of calls with a result. */
    public int answeredCalls() {
        return calls.size() - unanswered.size();
    }

    /** The last message, if it is a final reply of the assistant. */
    public String lastWords() {
        return transcript
                .entries()
                .last()
                .map(Transcript.Entry::message)
                .filter(message ->
                        message.role() == Role.ASSISTANT && message.toolUses().isEmpty())
                .map(Message::text)
                .orElse("");
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
            throw new IllegalArgumentException(
                    "a call without a result, and something is said after it: " + open.get(0));
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
        countByKeys();
        Turn now = turnNow(!open.isEmpty());
        boolean known = now.number() > 0;
        Draft draft = Draft.blank(Conversation.RULES, agent, createdAt);
        draft.dialogue.transcript = transcript;
        draft.dialogue.queue = queue;
        draft.dialogue.turn = now;
        draft.dialogue.ended = known && !now.isRunning() ? Optional.of(now) : Optional.empty();
        draft.book.batch = batch.stream().map(Part.ToolUse::id).toList();
        draft.book.calls = calls;
        draft.book.effects = effects;
        draft.book.workspace = workspace;
        draft.money.usage = usage;
        draft.money.cost = cost;
        draft.counters.steps = steps;
        draft.counters.versions = versions;
        draft.counters.messages = messages;
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
        if (begun.contains(call.id())) {
            String key = EffectLog.key(call.tool(), call.argsDigest());
            return decided(call)
                    .repeating(effects.of(key).executions())
                    .claimed(Call.Claim.elsewhere(call.since()), call.since());
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
        String key = EffectLog.key(call.tool(), call.argsDigest());
        return decided(call)
                .repeating(effects.of(key).executions())
                .begunElsewhere(pending.isEmpty() ? Call.Status.CLAIMED : Call.Status.UNSETTLED);
    }

    /** A call that has run and asks a question. It must never run again, even if it would need approval to run. */
    private Call asking(Call call, String words) {
        String key = EffectLog.key(call.tool(), call.argsDigest());
        EffectLog.Effect before = effects.of(key);
        effects = effects.with(key, before.executed());
        return call.repeating(before.executions())
                .claimed(Call.Claim.elsewhere(call.since()), call.since())
                .asking(words, call.since());
    }

    private Call decided(Call call) {
        if (!approved.contains(call.id())) {
            return call;
        }
        boolean edited = batch.stream()
                .noneMatch(use -> use.id().equals(call.id()) && use.input().equals(call.args()));
        CallApproval decision = new CallApproval(
                true,
                edited,
                Optional.empty(),
                Optional.empty(),
                call.since(),
                Optional.empty(),
                true,
                Optional.empty());
        return call.decided(decision, call.args(), call.since());
    }

    private Turn turnNow(boolean callsAreOpen) {
        boolean lastWord = transcript
                .entries()
                .last()
                .map(Transcript.Entry::message)
                .filter(message ->
                        message.role() == Role.ASSISTANT && message.toolUses().isEmpty())
                .isPresent();
        Turn.Status how = status.orElseGet(() -> {
            if (transcript.isEmpty()) {
                return Turn.Status.NONE;
            }
            return lastWord && !callsAreOpen ? Turn.Status.COMPLETE : Turn.Status.RUNNING;
        });
        if (how == Turn.Status.NONE) {
            return Turn.none(startedAt);
        }
        if (how == Turn.Status.COMPLETE && callsAreOpen) {
            throw new IllegalArgumentException("completed, with calls that are open");
        }
        String text = status.isPresent() || !lastWord
                ? words
                : transcript.entries().last().orElseThrow().message().text();
        boolean problem = how != Turn.Status.COMPLETE && how != Turn.Status.RUNNING;
        Optional<Problem> reason = problem ? Optional.of(new Problem("Recorded", why)) : Optional.empty();
        return new Turn(turn, how, iterations, usage, text, reason, startedAt)
                .structured(how == Turn.Status.COMPLETE ? structured : Optional.empty());
    }
}
