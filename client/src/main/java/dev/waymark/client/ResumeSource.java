package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.checkpoint.RestoredCheckpoint;
import dev.waymark.client.connection.SuccessorRegistry;
import dev.waymark.client.failure.Remedy;
import dev.waymark.client.failure.WaymarkException;
import dev.waymark.client.request.ForkOptions;
import dev.waymark.client.request.ResumeOptions;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.thread.StartInput;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.ForkRequest;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.decision.FileCalls;
import dev.waymark.conversation.rule.Rules;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.timeline.Timeline;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A conversation to continue, and how the thread that continues it starts.
 *
 * @param identity identifies the source: the thread and its run, or the content of the checkpoint
 * @param session the id from which the idempotency keys of its calls are derived; if empty, the id of the new thread
 * @param once whether the new thread closes after its turn, unless the options name it
 * @param fromFile whether only a file contains the conversation, so that it is unknown who chose its open calls
 * @param continuation identifies the marker on the server, if only one thread may continue the conversation
 */
record ResumeSource(
        Json identity,
        Conversation state,
        Optional<AgentSpec> agent,
        Optional<String> session,
        boolean once,
        boolean fromFile,
        Optional<SuccessorRegistry.Source> continuation) {
    private static final int ID_DIGITS = 32;

    /** The names of built-in tools without side effects, which are the same for every agent. */
    private static final Set<String> SAFE_TOOLS = BuiltInTools.GROUPS.stream()
            .flatMap(group -> BuiltInTools.of(group).stream())
            .filter(tool -> !tool.hasEffect())
            .map(ToolSpec::name)
            .collect(Collectors.toUnmodifiableSet());

    /**
     * Returns a closed thread as a source that only one thread may continue. Threads with equal conversations are still
     * different sources.
     */
    static ResumeSource of(Timeline closed, String firstRunId) {
        return of(closed).goingOnOnce(SuccessorRegistry.Source.thread(closed.thread(), firstRunId));
    }

    /** Returns the current state of a thread as a source that any number of threads may continue. */
    static ResumeSource of(Timeline closed) {
        Map<String, Object> identity = new LinkedHashMap<>();
        identity.put("thread", closed.thread());
        identity.put("runId", closed.runId());
        Conversation now = closed.now();
        String session = now.session().orElse(closed.thread());
        return new ResumeSource(
                Json.of(identity), now, closed.agent(), Optional.of(session), now.once(), false, Optional.empty());
    }

    /**
     * Returns the content of a checkpoint as a source. The new thread closes after its turn, like every thread that
     * starts without a name.
     */
    static ResumeSource of(RestoredCheckpoint file) {
        return new ResumeSource(
                file.document(), file.state(), Optional.empty(), file.thread(), true, true, Optional.empty());
    }

    ResumeSource goingOnOnce(SuccessorRegistry.Source marked) {
        return new ResumeSource(identity, state, agent, session, once, fromFile, Optional.of(marked));
    }

    /** Returns this source with idempotency keys that are derived from this session. */
    ResumeSource inSession(String id) {
        return new ResumeSource(identity, state, agent, Optional.of(id), once, fromFile, continuation);
    }

    /** Returns this source with idempotency keys that are derived from the new thread. */
    ResumeSource inSessionOfItsOwn() {
        return new ResumeSource(identity, state, agent, Optional.empty(), once, fromFile, continuation);
    }

    /** Returns this source as a conversation whose open calls this server has in a thread of its own. */
    ResumeSource knownHere() {
        return new ResumeSource(identity, state, agent, session, once, false, continuation);
    }

    /** Returns the thread or the session that the conversation comes from, if it is known. */
    Optional<String> copiedFrom() {
        return continuation.map(SuccessorRegistry.Source::name).or(() -> session);
    }

    /**
     * Returns the open calls that would take effect if they ran now, or may have taken effect: all except questions and
     * calls of tools that are known to be safe. A call that ran and asked a question lacks only the answer, so it is
     * not included.
     */
    List<Call> openEffects(Optional<AgentSpec> known) {
        return state.openCalls().stream()
                .filter(call -> call.claim().isEmpty() || call.status() != Call.Status.ASKING)
                .filter(call -> known.flatMap(agent -> agent.tool(call.tool()))
                        .map(ToolSpec::hasEffect)
                        .orElseGet(() -> !SAFE_TOOLS.contains(call.tool())))
                .toList();
    }

    /**
     * Returns the open calls that were never started and that somebody has to allow: all calls of a file, except
     * questions and calls of built-in tools that are known to be safe.
     */
    List<Call> undecidedCalls() {
        return !fromFile
                ? List.of()
                : openEffects(Optional.empty()).stream()
                        .filter(call -> call.status() == Call.Status.ISSUED)
                        .toList();
    }

    /**
     * Returns whether the conversation is complete, and the options contain neither an answer nor a thread id. Then the
     * caller gets the recorded outcome, and nothing starts.
     */
    boolean isOver(ResumeOptions how) {
        return state.turn().status() == Turn.Status.COMPLETE
                && how.answer().orElse("").isBlank()
                && how.thread().isEmpty();
    }

    /** Returns the conversation to show if nothing starts, so that the agent is not resolved. */
    Conversation recorded() {
        return Rules.readWithoutAgent(state, SAFE_TOOLS);
    }

    /**
     * Returns the thread id in the options. Without one, derives an id from the source, the answer, the agent and the
     * further options: equal for equal requests, different otherwise.
     */
    String threadId(ResumeOptions how) {
        String text = identity.canonical()
                + how.answer().orElse("")
                + how.agent().orElse("")
                + furtherOptions(how, true).map(options -> options.canonical()).orElse("");
        return how.thread().orElseGet(() -> "resume-" + Sha256.hex(text).substring(0, ID_DIGITS));
    }

    /** Returns the id under which the new thread records this request. */
    String requestId(ResumeOptions how) {
        List<Object> parts = new ArrayList<>(
                Arrays.asList(identity, how.answer().orElse(null), how.agent().orElse(null)));
        furtherOptions(how, false).ifPresent(parts::add);
        how.owner()
                .ifPresent(owner -> parts.add(Arrays.asList(
                        owner.subject().orElse(null), owner.group().orElse(null))));
        return "resume/" + Sha256.hex(Json.canonical(parts));
    }

    /**
     * Returns the limit and the context, if there are any. Includes an empty answer only if {@code withEmptyAnswer} is
     * set, for ids that would otherwise be the same with an empty answer and without one.
     */
    private static Optional<Json> furtherOptions(ResumeOptions how, boolean withEmptyAnswer) {
        Map<String, Object> options = new LinkedHashMap<>();
        how.maxIterations().ifPresent(most -> options.put("maxIterations", most));
        how.context().ifPresent(context -> options.put("context", context));
        if (withEmptyAnswer && how.answer().filter(String::isEmpty).isPresent()) {
            options.put("answer", "");
        }
        return options.isEmpty() ? Optional.empty() : Optional.of(Json.of(options));
    }

    /**
     * Returns the id under which the new thread records this fork request. It does not depend on what the other thread
     * does after the request, so that the request can be repeated.
     */
    static String forkId(String thread, String firstRunId, ForkOptions how) {
        List<Object> parts = Arrays.asList(
                thread,
                firstRunId,
                how.place().orElse(null),
                how.thread(),
                how.message()
                        .map(message -> message.isText() ? message.text() : message.tree())
                        .orElse(null));
        return "fork/" + Sha256.hex(Json.canonical(parts));
    }

    /** Returns the initial state of the new thread. */
    Conversation begin(ResumeOptions how, String thread, Instant at) {
        Resumption resumption = new Resumption(
                requestId(how),
                how.agent(),
                how.answer(),
                how.maxIterations(),
                once && how.thread().isEmpty(),
                how.session().or(() -> session).filter(id -> !id.equals(thread)),
                how.context(),
                fromFile ? how.fileCalls() : FileCalls.CONTINUE);
        resumption.refusal(state).ifPresent(problem -> {
            throw new WaymarkException.NotFound(problem.message(), Remedy.of(Remedy.Action.DECIDE_AFTER_RESUME));
        });
        return fitting(how.agent(), Rules.resume(state, resumption, at));
    }

    /** Returns the initial state of a fork. */
    Conversation fork(ForkRequest how, Instant at) {
        return fitting(Optional.empty(), Rules.fork(state, how, at));
    }

    /** Returns the state without whole results if it only fits into a start input without them. */
    private Conversation fitting(Optional<String> otherAgent, Conversation begin) {
        boolean isTooLarge = !begin.callBook().longResults().isEmpty()
                && packed(otherAgent, begin).length() > RunLimits.DEFAULT.carriedBytes();
        return isTooLarge ? Rules.withoutWholeResults(begin) : begin;
    }

    private String packed(Optional<String> otherAgent, Conversation begin) {
        return new CarriedState(begin, otherAgent.isPresent() ? Optional.empty() : agent).pack();
    }

    /** Returns the input of a run that starts with this state. */
    StartInput input(Optional<String> otherAgent, Conversation begin) {
        String packed = packed(otherAgent, begin);
        if (packed.length() > RunLimits.DEFAULT.carriedBytes()) {
            throw new WaymarkException.TooLarge(
                    "the conversation is too large to start a thread from it: " + packed.length() + " bytes packed",
                    "At most " + RunLimits.DEFAULT.carriedBytes() + " are accepted");
        }
        return StartInput.of(begin.agent()).carrying(packed);
    }
}
