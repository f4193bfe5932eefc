package dev.waymark.client.span;

import dev.waymark.agent.AgentSpec;
import dev.waymark.client.trace.Span;
import dev.waymark.contract.TraceIds;
import dev.waymark.contract.thread.CallItem;
import dev.waymark.conversation.Conversation;
import dev.waymark.conversation.call.Call;
import dev.waymark.conversation.fact.Fact;
import dev.waymark.conversation.fact.ModelFact;
import dev.waymark.conversation.fact.ToolFact;
import dev.waymark.conversation.message.Message;
import dev.waymark.conversation.message.Reply;
import dev.waymark.conversation.state.Turn;
import dev.waymark.conversation.value.Problem;
import dev.waymark.conversation.value.Spent;
import dev.waymark.conversation.value.Usage;
import dev.waymark.timeline.Moment;
import dev.waymark.timeline.RunEnding;
import dev.waymark.timeline.Timeline;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Creates the spans of a thread: for the thread itself, its turns, model calls, tool calls, claims, and waits for
 * people. The span of a subagent's thread is a child of the span of the call that started the thread. Names and
 * attributes follow OpenTelemetry's semantic conventions for generative AI.
 *
 * <p>A span is created only for something that has ended. The same history always produces the same spans with the same
 * ids, in any process and at any time. An export can therefore be repeated, and collectors that recognize span ids
 * count nothing twice. The thread's own span is created when the thread has closed.
 */
public final class ThreadSpans {
    private static final String CANCELLED = "cancelled";

    private final TraceIds ids;
    private final Timeline timeline;
    private final boolean content;
    private final List<Span> spans = new ArrayList<>();
    private final Map<String, SpanDraft> open = new LinkedHashMap<>();
    private final Map<String, Integer> occurrences = new LinkedHashMap<>();
    private final Map<String, Instant> dispatchedAt = new LinkedHashMap<>();
    private @Nullable Conversation before;
    private Instant calledAt = Instant.EPOCH;
    /** The newest reply, and when it came. */
    private Optional<Moment> reply = Optional.empty();

    private Instant repliedAt = Instant.EPOCH;

    private ThreadSpans(Timeline timeline, TraceIds ids, boolean content) {
        this.timeline = timeline;
        this.ids = ids;
        this.content = content;
    }

    /**
     * Returns all spans that have ended, in the order of their ends.
     *
     * @param content whether the spans include instructions, messages, arguments and results
     */
    public static List<Span> of(Timeline timeline, TraceIds ids, boolean content) {
        return new ThreadSpans(timeline, ids, content).fold();
    }

    private List<Span> fold() {
        for (int i = 0; i < timeline.moments().size(); i++) {
            accept(timed(i));
        }
        boolean closed = timeline.ending()
                .filter(ending -> ending.kind() != RunEnding.Kind.CONTINUED)
                .isPresent();
        if (closed && !timeline.moments().isEmpty()) {
            Moment last = timeline.moments().get(timeline.moments().size() - 1);
            Set<String> left = new LinkedHashSet<>(open.keySet());
            left.remove(threadName());
            left.forEach(name -> end(name, last.at(), Optional.of(CANCELLED)));
            end(threadName(), last.at(), Optional.empty());
        }
        return List.copyOf(spans);
    }

    /**
     * The moment with the time at which it happened. All facts of a step whose calls ran with their model call have the
     * time of the task that applied them, when the last call had ended. The step records how long each call took.
     */
    private Moment timed(int index) {
        List<Moment> moments = timeline.moments();
        Moment moment = moments.get(index);
        if (moment.fact().filter(ModelFact.ModelReplied.class::isInstance).isPresent()) {
            Duration longest = Duration.ZERO;
            for (int i = index; i < moments.size() && isOfEvent(moments.get(i), moment); i++) {
                Duration took = moments.get(i).took().orElse(Duration.ZERO);
                longest = took.compareTo(longest) > 0 ? took : longest;
            }
            Instant replied = moment.at().minus(longest);
            repliedAt = replied.isBefore(calledAt) ? calledAt : replied;
            reply = Optional.of(moment);
        }
        if (moment.fact().filter(ModelFact.ModelCalled.class::isInstance).isPresent()) {
            calledAt = moment.at();
        }
        boolean ofReply = reply.filter(first -> isOfEvent(moment, first)).isPresent();
        if (!ofReply) {
            return moment;
        }
        Instant ended = repliedAt.plus(moment.took().orElse(Duration.ZERO));
        return new Moment(
                moment.runId(),
                moment.place(),
                ended.isAfter(moment.at()) ? moment.at() : ended,
                moment.fact(),
                moment.state(),
                moment.took());
    }

    private static boolean isOfEvent(Moment moment, Moment other) {
        return moment.runId().equals(other.runId()) && moment.eventId() == other.eventId();
    }

    private void accept(Moment moment) {
        Conversation now = moment.state();
        if (before == null) {
            begin(moment);
        }
        moment.fact().ifPresent(fact -> model(fact, moment));
        turn(moment);
        calls(moment);
        moment.fact().ifPresent(fact -> claim(fact, moment));
        if (before != null && isRunning(before) && !isRunning(now)) {
            endTurn(moment, before);
        }
        before = now;
    }

    private static String threadName() {
        return "thread";
    }

    private void begin(Moment moment) {
        String agent = timeline.agent()
                .map(AgentSpec::name)
                .orElseGet(() -> timeline.now().agent());
        SpanDraft thread = new SpanDraft(
                ids.span(threadName()),
                ids.callerSpan(),
                agent.isEmpty() ? "thread" : "thread " + agent,
                Span.Kind.INTERNAL,
                moment.at());
        thread.with("gen_ai.conversation.id", timeline.thread()).with("gen_ai.agent.name", agent);
        open.put(threadName(), place(thread, moment));
    }

    private static SpanDraft place(SpanDraft draft, Moment moment) {
        return draft.with("waymark.run", moment.runId()).with("waymark.event", moment.eventId());
    }

    private static boolean isRunning(Conversation state) {
        return state.turn().status() == Turn.Status.RUNNING;
    }

    /** Begins the span of a turn. A turn that ended at a limit may continue, so it can have several spans. */
    private void turn(Moment moment) {
        Conversation now = moment.state();
        boolean began = isRunning(now)
                && (before == null
                        || !isRunning(before)
                        || before.turn().number() != now.turn().number());
        if (!began) {
            return;
        }
        if (before != null && isRunning(before)) {
            endTurn(moment, before);
        }
        String agent = timeline.agent().map(AgentSpec::name).orElseGet(now::agent);
        SpanDraft turn = draft(
                "turn",
                numbered("turn/" + now.turn().number()),
                threadName(),
                "invoke_agent " + agent,
                Span.Kind.INTERNAL,
                moment);
        turn.with("gen_ai.operation.name", "invoke_agent")
                .with("gen_ai.agent.name", agent)
                .with("gen_ai.conversation.id", timeline.thread())
                .with("waymark.turn", (long) now.turn().number());
    }

    /** Ends the span of the turn that was running. */
    private void endTurn(Moment moment, Conversation running) {
        SpanDraft turn = open.get("turn");
        if (turn == null) {
            return;
        }
        Turn outcome = moment.outcome(running.turn());
        Set<String> left = new LinkedHashSet<>(open.keySet());
        left.remove(threadName());
        left.remove("turn");
        left.forEach(name -> end(name, moment.at(), Optional.of(CANCELLED)));
        usage(turn, outcome.usage());
        turn.with("waymark.outcome", outcome.status().wireName())
                .with("waymark.iterations", (long) outcome.iterations());
        if (content) {
            turn.with("gen_ai.output.messages", SpanMessages.output(outcome.text()));
        }
        boolean failed = outcome.status() == Turn.Status.FAILED;
        end(
                "turn",
                moment.at(),
                failed ? Optional.of(outcome.problem().map(Problem::type).orElse("failed")) : Optional.empty());
    }

    private void model(Fact fact, Moment moment) {
        if (fact instanceof ModelFact.ModelCalled called) {
            beginModel(called.step(), false, moment);
        } else if (fact instanceof ModelFact.SummaryRequested requested) {
            beginModel(requested.step(), true, moment);
        } else if (fact instanceof ModelFact.ModelReplied replied) {
            endModel(replied.step(), replied.reply(), moment);
        } else if (fact instanceof ModelFact.Summarised summarised) {
            endModel(summarised.step(), summarised.reply(), moment);
        } else if (fact instanceof ModelFact.ModelFailed failed) {
            failModel(failed.step(), failed.problem(), failed.spent(), moment);
        } else if (fact instanceof ModelFact.SummaryFailed failed) {
            failModel(failed.step(), failed.problem(), failed.spent(), moment);
        }
    }

    private static String modelName(int step) {
        return "model/" + step;
    }

    private void beginModel(int step, boolean summary, Moment moment) {
        String model = timeline.model().orElse("");
        int colon = model.indexOf(':');
        String name = model.substring(colon + 1);
        SpanDraft draft = draft(modelName(step), modelName(step), "turn", "chat " + name, Span.Kind.CLIENT, moment)
                .with("gen_ai.operation.name", "chat")
                .with("gen_ai.provider.name", provider(model))
                .with("gen_ai.request.model", name)
                .with("gen_ai.conversation.id", timeline.thread())
                .with("waymark.step", (long) step);
        timeline.agent().ifPresent(agent -> draft.with("gen_ai.request.max_tokens", (long) agent.maxTokens()));
        if (summary) {
            draft.with("waymark.purpose", "summary");
        }
        if (content) {
            List<Message> messages = moment.state().transcript().messages();
            draft.with("gen_ai.input.messages", SpanMessages.input(messages));
            timeline.instructions()
                    .ifPresent(text -> draft.with("gen_ai.system_instructions", SpanMessages.instructions(text)));
        }
    }

    /** The service of a model: one service may have several APIs, which are providers of their own here. */
    private static String provider(String model) {
        return model.substring(0, Math.max(0, model.indexOf(':'))).replaceFirst("^(openai)-(responses|chat)$", "$1");
    }

    private void endModel(int step, Reply reply, Moment moment) {
        SpanDraft draft = open.get(modelName(step));
        if (draft == null) {
            return;
        }
        spent(draft, reply.spent());
        String model = reply.model().or(timeline::model).orElse("");
        draft.with("gen_ai.provider.name", provider(model))
                .with("gen_ai.response.model", model.substring(model.indexOf(':') + 1));
        draft.with("gen_ai.response.finish_reasons", List.of(reply.stop()));
        if (content) {
            draft.with("gen_ai.output.messages", SpanMessages.output(reply));
        }
        end(modelName(step), moment.at(), Optional.empty());
    }

    private void failModel(int step, Problem problem, Spent spent, Moment moment) {
        SpanDraft draft = open.get(modelName(step));
        if (draft != null) {
            spent(draft, spent);
            draft.with("error.type", problem.type());
            end(modelName(step), moment.at(), Optional.of(problem.type()));
        }
    }

    private static void spent(SpanDraft draft, Spent spent) {
        usage(draft, spent.usage());
        spent.cost()
                .ifPresent(cost -> draft.with("waymark.cost_usd", cost.dollars().doubleValue()));
    }

    private static void usage(SpanDraft draft, Usage usage) {
        draft.with("gen_ai.usage.input_tokens", usage.inputTokens())
                .with("gen_ai.usage.output_tokens", usage.outputTokens());
        part(draft, "gen_ai.usage.cache_read.input_tokens", usage.cacheReadTokens());
        part(draft, "gen_ai.usage.cache_creation.input_tokens", usage.cacheWriteTokens());
        part(draft, "gen_ai.usage.reasoning.output_tokens", usage.reasoningTokens());
    }

    private static void part(SpanDraft draft, String name, long tokens) {
        if (tokens > 0) {
            draft.with(name, tokens);
        }
    }

    /** Updates the spans of calls. A fact changes only calls of the reply that is the latest before or after it. */
    private void calls(Moment moment) {
        Conversation now = moment.state();
        if (before != null && before.calls() == now.calls()) {
            return;
        }
        Set<String> changed = new LinkedHashSet<>(now.batch());
        if (before != null) {
            changed.addAll(before.batch());
        }
        for (String id : changed) {
            Optional<Call> was =
                    before == null ? Optional.empty() : before.calls().get(id);
            now.calls().get(id).ifPresent(is -> call(was, is, moment));
        }
    }

    private static String callName(Call call) {
        return "call/" + call.id();
    }

    private void call(Optional<Call> was, Call is, Moment moment) {
        if (was.isEmpty() && is.turn() == moment.state().turn().number()) {
            SpanDraft draft = draft(
                            callName(is), callName(is), "turn", "execute_tool " + is.tool(), Span.Kind.INTERNAL, moment)
                    .with("gen_ai.operation.name", "execute_tool")
                    .with("gen_ai.tool.name", is.tool())
                    .with("gen_ai.tool.call.id", is.id())
                    .with("gen_ai.tool.type", "function");
            if (content) {
                draft.with("gen_ai.tool.call.arguments", is.args().canonical());
            }
        }
        SpanDraft draft = open.get(callName(is));
        if (draft == null) {
            return;
        }
        wait(was, is, draft, moment);
        if (!is.isOpen()) {
            String outcome = is.status().name().toLowerCase(java.util.Locale.ROOT);
            draft.with("waymark.outcome", outcome).with("waymark.dispatches", (long) is.dispatches());
            if (content) {
                is.result().ifPresent(text -> draft.with("gen_ai.tool.call.result", text));
            }
            boolean failed = is.status() != Call.Status.COMPLETED;
            if (failed) {
                draft.with("error.type", outcome);
            }
            end(callName(is), moment.at(), failed ? Optional.of(outcome) : Optional.empty());
        }
    }

    private void wait(Optional<Call> was, Call is, SpanDraft call, Moment moment) {
        String name = "wait/" + is.id();
        SpanDraft waiting = open.get(name);
        boolean goesOn = waiting != null
                && was.isPresent()
                && is.waitsForPerson()
                && was.get().status() == is.status()
                && was.get().since().equals(is.since());
        if (waiting != null && !goesOn) {
            is.approval().ifPresent(decision -> waiting.with("waymark.approved", decision.approved()));
            end(name, moment.at(), Optional.empty());
        }
        if (is.waitsForPerson() && !goesOn) {
            String reason = CallItem.waitName(is);
            SpanDraft draft = new SpanDraft(
                    ids.span(numbered(name)),
                    Optional.of(call.id()),
                    "wait " + reason,
                    Span.Kind.INTERNAL,
                    moment.at());
            open.put(name, place(draft.with("waymark.reason", reason), moment));
        }
    }

    /** Creates the span of a claim, which lasts from the dispatch of the call to the grant or refusal of the claim. */
    private void claim(Fact fact, Moment moment) {
        if (fact instanceof ToolFact.ToolDispatched dispatched) {
            dispatchedAt.put(dispatched.callId(), moment.at());
        } else if (fact instanceof ToolFact.ToolClaimed claimed) {
            SpanDraft call = open.get("call/" + claimed.callId());
            if (call == null) {
                return;
            }
            boolean granted = moment.state()
                    .calls()
                    .get(claimed.callId())
                    .flatMap(Call::claim)
                    .filter(claim -> claim.execution().equals(claimed.execution()))
                    .isPresent();
            SpanDraft draft = place(
                    new SpanDraft(
                            ids.span(numbered("claim/" + claimed.callId())),
                            Optional.of(call.id()),
                            "claim " + claimed.tool(),
                            Span.Kind.INTERNAL,
                            dispatchedAt.getOrDefault(claimed.callId(), moment.at())),
                    moment);
            draft.with("gen_ai.tool.call.id", claimed.callId()).with("waymark.granted", granted);
            spans.add(draft.ended(ids, moment.at(), granted ? Optional.empty() : Optional.of("refused")));
        }
    }

    private SpanDraft draft(String key, String id, String parent, String name, Span.Kind kind, Moment moment) {
        Optional<String> above = Optional.ofNullable(open.get(parent)).map(SpanDraft::id);
        SpanDraft draft = place(new SpanDraft(ids.span(id), above, name, kind, moment.at()), moment);
        open.put(key, draft);
        return draft;
    }

    /** Appends the number of times that this name has been used, including this time. */
    private String numbered(String name) {
        int number = occurrences.merge(name, 1, Integer::sum);
        return name + "/" + number;
    }

    private void end(String name, Instant at, Optional<String> problem) {
        SpanDraft draft = open.remove(name);
        if (draft != null) {
            spans.add(draft.ended(ids, at, problem));
        }
    }
}
