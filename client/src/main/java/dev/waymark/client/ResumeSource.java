package dev.waymark.client;

import dev.waymark.agent.AgentSpec;
import dev.waymark.agent.BuiltInTools;
import dev.waymark.agent.ToolSpec;
import dev.waymark.checkpoint.RestoredCheckpoint;
import dev.waymark.contract.CarriedState;
import dev.waymark.contract.ContinuationMarker;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.StartInput;
import dev.waymark.conversation.Call;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.Resumption;
import dev.waymark.conversation.Turn;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Sha256;
import dev.waymark.history.Timeline;
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
 * A conversation that was left somewhere, and how a thread begins that goes on from there.
 *
 * @param identity what makes it this conversation and no other
 * @param session the id under which other systems know its calls, if it has one
 * @param once whether it was to close after its turn
 * @param continuation what says on the server that it goes on, where only one thread may go on with it
 */
record ResumeSource(
        Json identity,
        Conversation state,
        Optional<AgentSpec> agent,
        Optional<String> session,
        boolean once,
        Optional<Continuations.Source> continuation) {
    private static final int ID_DIGITS = 32;

    /** Built in, so they are the same whoever's agent it is. */
    private static final Set<String> SAFE_TOOLS = BuiltInTools.GROUPS.stream()
            .flatMap(group -> BuiltInTools.of(group).stream())
            .filter(tool -> !tool.hasEffect())
            .map(ToolSpec::name)
            .collect(Collectors.toUnmodifiableSet());

    /** A thread that is closed, which goes on in one thread only. Two threads are never one conversation, whatever was said in them. */
    static ResumeSource of(Timeline closed, String firstRunId) {
        return of(closed)
                .goingOnOnce(new Continuations.Source(ContinuationMarker.idOfRun(firstRunId), closed.thread()));
    }

    /** A thread as it stands, of which any number of copies may be taken. */
    static ResumeSource of(Timeline closed) {
        Map<String, Object> identity = new LinkedHashMap<>();
        identity.put("thread", closed.thread());
        identity.put("runId", closed.runId());
        Conversation now = closed.now();
        String session = now.session().orElse(closed.thread());
        return new ResumeSource(
                Json.of(identity), now, closed.agent(), Optional.of(session), now.once(), Optional.empty());
    }

    /** What a file holds. It is one run, like any that is given no name. */
    static ResumeSource of(RestoredCheckpoint file) {
        return new ResumeSource(file.document(), file.state(), Optional.empty(), file.thread(), true, Optional.empty());
    }

    ResumeSource goingOnOnce(Continuations.Source marked) {
        return new ResumeSource(identity, state, agent, session, once, Optional.of(marked));
    }

    /** With the idempotency keys of this session. */
    ResumeSource inSession(String id) {
        return new ResumeSource(identity, state, agent, Optional.of(id), once, continuation);
    }

    /** With idempotency keys of its own. */
    ResumeSource inSessionOfItsOwn() {
        return new ResumeSource(identity, state, agent, Optional.empty(), once, continuation);
    }

    /**
     * The open calls that would take effect if they ran now, or may have done so: all but questions and calls of tools
     * that are known to be safe. Of a call that ran and asks something, its answer is all that is missing.
     */
    List<Call> openEffects(Optional<AgentSpec> known) {
        return state.openCalls().stream()
                .filter(call -> call.claim().isEmpty() || call.status() != Call.Status.ASKING)
                .filter(call -> known.flatMap(agent -> agent.tool(call.tool()))
                        .map(ToolSpec::hasEffect)
                        .orElseGet(() -> !SAFE_TOOLS.contains(call.tool())))
                .toList();
    }

    /** Ended in peace, with nothing more to say to it: whoever asks for it gets what it came to. */
    boolean isOver(ResumeOptions how) {
        return state.turn().status() == Turn.Status.COMPLETE
                && how.answer().orElse("").isBlank()
                && how.thread().isEmpty();
    }

    /** The same for the same conversation, answer, agent and options, and different for every other. */
    String threadId(ResumeOptions how) {
        String text = identity.canonical()
                + how.answer().orElse("")
                + how.agent().orElse("")
                + furtherOptions(how, true).map(options -> options.canonical()).orElse("");
        return how.thread().orElseGet(() -> "resume-" + Sha256.hex(text).substring(0, ID_DIGITS));
    }

    /** By which a thread knows that it came of this very request. */
    String requestId(ResumeOptions how) {
        List<Object> parts = new ArrayList<>(
                Arrays.asList(identity, how.answer().orElse(null), how.agent().orElse(null)));
        furtherOptions(how, false).ifPresent(parts::add);
        return "resume/" + Sha256.hex(Json.canonical(parts));
    }

    /** What else is asked for, if anything is. An empty answer is one, where an id is made of answers as they are. */
    private static Optional<Json> furtherOptions(ResumeOptions how, boolean withEmptyAnswer) {
        Map<String, Object> options = new LinkedHashMap<>();
        how.maxIterations().ifPresent(most -> options.put("maxIterations", most));
        how.context().ifPresent(context -> options.put("context", context));
        if (withEmptyAnswer && how.answer().filter(String::isEmpty).isPresent()) {
            options.put("answer", "");
        }
        return options.isEmpty() ? Optional.empty() : Optional.of(Json.of(options));
    }

    /** By which a thread knows that it was forked by this very request. */
    String forkId(ForkOptions how, long eventId) {
        List<Object> parts = new ArrayList<>(
                Arrays.asList(identity, eventId, how.thread(), how.message().orElse(null)));
        return "fork/" + Sha256.hex(Json.canonical(parts));
    }

    /** The state that the new thread begins with. */
    Conversation begin(ResumeOptions how, String thread, Instant at) {
        Resumption resumption = new Resumption(
                requestId(how),
                how.agent(),
                how.answer(),
                how.maxIterations(),
                once && how.thread().isEmpty(),
                how.session().or(() -> session).filter(id -> !id.equals(thread)),
                how.context());
        resumption.refusal(state).ifPresent(problem -> {
            throw new WaymarkException.NotFound(problem.message(), Remedy.of(Remedy.Action.DECIDE_AFTER_RESUME));
        });
        return resumption.of(state, at);
    }

    /** What a run is started with that begins with this state. */
    StartInput input(Optional<String> otherAgent, Conversation begin) {
        Optional<AgentSpec> known = otherAgent.isPresent() ? Optional.empty() : agent;
        String packed = new CarriedState(begin, known).pack();
        if (packed.length() > RunLimits.DEFAULT.carriedBytes()) {
            throw new WaymarkException.TooLarge(
                    "the conversation is too large to start a thread with: " + packed.length() + " bytes packed",
                    "At most " + RunLimits.DEFAULT.carriedBytes() + " are taken");
        }
        return StartInput.of(begin.agent()).carrying(packed);
    }
}
