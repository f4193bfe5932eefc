package dev.waymark.contract.thread;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.contract.CarriedReference;
import dev.waymark.contract.PayloadJson;
import dev.waymark.contract.RunLimits;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.message.InboundDecoder;
import dev.waymark.contract.message.Refusal;
import dev.waymark.contract.work.Work;
import dev.waymark.conversation.call.Parent;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.PersonFact;
import dev.waymark.conversation.fact.SignalNames;
import dev.waymark.conversation.fact.ThreadFact;
import dev.waymark.conversation.state.ThreadIdentity;
import dev.waymark.conversation.value.Json;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.ProblemType;
import dev.waymark.thread.ForkSource;
import dev.waymark.thread.ThreadOwner;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The input of a run: an agent's name and possibly a first message, or the state of the previous run.
 *
 * <p>{@code say} is the payload of the signal with that name. {@code rules} is the newest rule version that the starter
 * knows; if it is missing, {@link ThreadIdentity#FIRST_RULES} apply. {@code once} closes the thread when its first turn ends. {@code parent}
 * is set for a subagent's thread. {@code session} is the id that idempotency keys are derived from, if it is not the
 * thread's id. {@code limits} are recorded here, since a worker's own limits would change replays. {@code inChunks} is
 * set instead of {@code carried} for a state that is too large for an input; the run begins by fetching it.
 * {@code owner} is set for threads of people who may see only their own threads. {@code traceparent} is the span of the
 * caller, in the form of W3C Trace Context. {@code forkedFrom} is set for forks.
 */
public record StartInput(
        int rules,
        String agent,
        boolean once,
        Optional<Integer> maxIterations,
        Optional<JsonNode> say,
        Optional<RunLimits> limits,
        Optional<String> carried,
        Optional<JsonNode> context,
        Optional<Parent> parent,
        Optional<String> session,
        Optional<ThreadOwner> owner,
        Optional<String> traceparent,
        Optional<CarriedReference> inChunks,
        Optional<ForkSource> forkedFrom) {
    /** The maximum size of a thread's context for tools, in characters of canonical JSON. */
    public static final int MAX_CONTEXT_LENGTH = 64 * 1024;

    public StartInput {
        rules = rules == 0 ? ThreadIdentity.FIRST_RULES : rules;
        agent = agent == null ? "" : agent;
        say = say == null ? Optional.empty() : say.filter(body -> !body.isNull());
        context = context == null ? Optional.empty() : context.filter(body -> !body.isNull());
    }

    /** A new thread of this agent. */
    public static StartInput of(String agent) {
        return new StartInput(
                ThreadIdentity.RULES,
                agent,
                false,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** A thread that executes a call of another thread. */
    public static StartInput ofSubagent(
            String agent,
            String task,
            Optional<Json> context,
            Parent parent,
            Optional<RunLimits> limits,
            Optional<String> session) {
        return of(agent).saying(PersonFact.UserSpoke.message(task)).with(edit -> {
            edit.once = true;
            edit.limits = limits;
            edit.context = context.map(PayloadJson.MAPPER::valueToTree);
            edit.parent = Optional.of(parent);
            edit.session = session;
        });
    }

    /** A thread that this workflow of another program starts as its child. It reports to the workflow. */
    public StartInput reportingToWorkflow(String thread) {
        return with(edit -> edit.parent = Optional.of(Parent.workflow(thread)));
    }

    /** The work for which the parent started this subagent's thread. */
    public Work.Subagent work() {
        Parent above = parent.orElseThrow(
                () -> new IllegalStateException("the thread is not a subagent's: its start input names no parent"));
        return new Work.Subagent(above.callId(), above.budget());
    }

    public StartInput closingAfterOneTurn() {
        return with(edit -> edit.once = true);
    }

    public StartInput withMaxIterations(Optional<Integer> most) {
        return with(edit -> edit.maxIterations = most);
    }

    public StartInput saying(PersonFact.UserSpoke message) {
        return with(edit -> edit.say = Optional.of(PayloadJson.MAPPER.valueToTree(message.payload())));
    }

    /**
     * A copy with idempotency keys derived from this id, so that another thread with the same name has different keys.
     */
    public StartInput inSession(String id) {
        return with(edit -> edit.session = Optional.of(id));
    }

    public StartInput withLimits(RunLimits own) {
        return withLimits(Optional.of(own));
    }

    public StartInput withLimits(Optional<RunLimits> own) {
        return with(edit -> edit.limits = own);
    }

    /** The input of the run that continues with this packed state. */
    public StartInput carrying(String packed) {
        return continuing(edit -> edit.carried = Optional.of(packed));
    }

    /** The input of the run that continues with this state, which is too large for an input. */
    public StartInput carrying(CarriedReference state) {
        return continuing(edit -> edit.inChunks = Optional.of(state));
    }

    private StartInput continuing(Consumer<Edit> with) {
        return with(edit -> {
            edit.maxIterations = Optional.empty();
            edit.say = Optional.empty();
            edit.carried = Optional.empty();
            edit.inChunks = Optional.empty();
            edit.context = Optional.empty();
            with.accept(edit);
        });
    }

    /** A copy for a thread of this owner. */
    public StartInput ownedBy(Optional<ThreadOwner> whose) {
        return with(edit -> edit.owner = whose);
    }

    /** A copy for a fork of this thread. */
    public StartInput forkedFrom(ForkSource source) {
        return with(edit -> edit.forkedFrom = Optional.of(source));
    }

    /** A copy within this span of the caller. A text that is not a W3C {@code traceparent} is left out. */
    public StartInput tracedBy(Optional<String> caller) {
        return with(edit -> edit.traceparent = caller.filter(TraceIds::isTraceparent));
    }

    /** A copy with a context for the thread's tools. */
    public StartInput withContext(Optional<JsonNode> carriedAlong) {
        return with(edit -> edit.context = carriedAlong);
    }

    /** The first facts of a thread that starts with this input. */
    public List<Fact> facts() {
        List<Fact> facts = new ArrayList<>();
        Optional<Json> usable = Optional.empty();
        if (context.isPresent()) {
            try {
                // A subagent's context is not limited: it includes the contexts of all agents above it.
                usable = Optional.of(parent.isPresent() ? read(context.get()) : context(context.get()));
            } catch (Refusal refusal) {
                facts.add(new ThreadFact.MessageIgnored("context", Refusal.parse(refusal.getMessage())));
            }
        }
        facts.add(0, new ThreadFact.RunStarted(rules, agent, once, maxIterations, usable, parent, session));
        say.ifPresent(body -> facts.add(InboundDecoder.read(SignalNames.SAY, body)));
        return List.copyOf(facts);
    }

    /**
     * The context in the stored form.
     *
     * @throws Refusal if it is not an object, or too large
     */
    public static Json context(JsonNode body) {
        Json context = read(body);
        int length = context.canonical().length();
        if (length > MAX_CONTEXT_LENGTH) {
            throw new Refusal(new Problem(
                    ProblemType.TOO_LARGE,
                    "the context has " + length + " characters, of at most " + MAX_CONTEXT_LENGTH));
        }
        return context;
    }

    private static Json read(JsonNode body) {
        if (!body.isObject()) {
            throw new Refusal(new Problem(ProblemType.BAD_INPUT, "the context is no JSON object"));
        }
        try {
            return PayloadJson.MAPPER.treeToValue(body, Json.class);
        } catch (JsonProcessingException | IllegalArgumentException e) {
            throw new Refusal(new Problem(ProblemType.BAD_INPUT, "the context is no JSON that can be kept"));
        }
    }

    private StartInput with(Consumer<Edit> change) {
        Edit edit = new Edit();
        change.accept(edit);
        return edit.done();
    }

    private final class Edit {
        private boolean once = StartInput.this.once;
        private Optional<Integer> maxIterations = StartInput.this.maxIterations;
        private Optional<JsonNode> say = StartInput.this.say;
        private Optional<RunLimits> limits = StartInput.this.limits;
        private Optional<String> carried = StartInput.this.carried;
        private Optional<JsonNode> context = StartInput.this.context;
        private Optional<Parent> parent = StartInput.this.parent;
        private Optional<String> session = StartInput.this.session;
        private Optional<ThreadOwner> owner = StartInput.this.owner;
        private Optional<String> traceparent = StartInput.this.traceparent;
        private Optional<CarriedReference> inChunks = StartInput.this.inChunks;
        private Optional<ForkSource> forkedFrom = StartInput.this.forkedFrom;

        private StartInput done() {
            return new StartInput(
                    rules,
                    agent,
                    once,
                    maxIterations,
                    say,
                    limits,
                    carried,
                    context,
                    parent,
                    session,
                    owner,
                    traceparent,
                    inChunks,
                    forkedFrom);
        }
    }
}
